# Beside `make bench/ranks`: DistributedDataParallel over gloo, the model of train.py (a masked
# language model's encoder), two micro-batches per step, one for each process.
#   torchrun --nproc-per-node 2 ranks.py LAYERS DIM VOCAB BATCH LENGTH STEPS OUT
import json
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

layers, dim, vocab, batch, length, steps = map(int, sys.argv[1:7])
out = sys.argv[7]
dist.init_process_group("gloo")
torch.manual_seed(1)
torch.set_num_threads(1)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(vocab, dim)
        self.place = nn.Embedding(length, dim)
        layer = nn.TransformerEncoderLayer(dim, dim // 64, 4 * dim, 0.1, "gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.bias = nn.Parameter(torch.zeros(vocab))

    def forward(self, ids, chosen):
        x = self.layers(self.token(ids) + self.place.weight)
        return nn.functional.linear(x.flatten(0, 1)[chosen], self.token.weight, self.bias)


model = DistributedDataParallel(Encoder())
adam = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
rng = torch.Generator().manual_seed(dist.get_rank())
n = batch * length
began, timed = time.monotonic(), 0
for step in range(steps):
    if step == steps // 2:
        began, timed = time.monotonic(), 0
    ids = torch.randint(vocab, (batch, length), generator=rng)
    chosen = torch.randperm(n, generator=rng)[: int(0.15 * n)]
    loss = nn.functional.cross_entropy(model(ids, chosen), ids.flatten()[chosen])
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5)
    adam.step()
    adam.zero_grad(set_to_none=True)
    timed += 2 * n
if dist.get_rank() == 0:
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "log.jsonl"), "w") as log:
        speed = timed / (time.monotonic() - began)
        print(json.dumps({"tokens_per_second": round(speed, 1)}, separators=(",", ":")), file=log)
dist.destroy_process_group()
