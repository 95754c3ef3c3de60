"""PyTorch's attention, beside which `bench/ops` is to be read: ms a call, forward and backward apart, of FlashAttention-2, cuDNN, and cuDNN in
its fixed order, for 12 x 1024's shapes, tab-separated.  peer_attention.py [REPEATS]"""
import sys
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 30


def median(f):
    for _ in range(5):
        f()
    times = []
    for _ in range(repeats):
        a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        a.record()
        f()
        b.record()
        b.synchronize()
        times.append(a.elapsed_time(b))
    return sorted(times)[len(times) // 2]


def row(name, backend, B, H, T, d, causal, p, fixed=False):
    torch.use_deterministic_algorithms(fixed)
    qkv = torch.randn(B, T, 3, H, d, device='cuda', dtype=torch.bfloat16, requires_grad=True)
    q, k, v = (x.transpose(1, 2) for x in qkv.unbind(2))        # as our packed QKV lies
    call = lambda: F.scaled_dot_product_attention(q, k, v, dropout_p=p, is_causal=causal)
    try:
        with sdpa_kernel(backend):
            forward = median(lambda: call())
            o = call()
            go = torch.randn_like(o)
            backward = median(lambda: torch.autograd.grad(o, (q, k, v), go, retain_graph=True))
            one, two = (torch.autograd.grad(o, (q, k, v), go, retain_graph=True) for _ in '12')
            same = all(torch.equal(x, y) for x, y in zip(one, two))
        print(f'{name}, {B} of {T}, heads of {d}, causal {causal}, dropout {p}, equal bytes {same}\t\t\t'
              f'{forward:.4f} forward, {backward:.4f} backward\tms', flush=True)
    except RuntimeError as e:
        print(f'{name}, {B} of {T}, heads of {d}, dropout {p}\t\t\tno number: {str(e).splitlines()[0][:90]}\tms', flush=True)
    torch.use_deterministic_algorithms(False)


for B, H, T, d, causal in (64, 16, 256, 64, False), (128, 16, 128, 64, True), (64, 8, 256, 128, False):
    for p in (0.1, 0.0):
        row('FLASH', SDPBackend.FLASH_ATTENTION, B, H, T, d, causal, p)
        row('CUDNN', SDPBackend.CUDNN_ATTENTION, B, H, T, d, causal, p)
        row('CUDNN fixed', SDPBackend.CUDNN_ATTENTION, B, H, T, d, causal, p, True)
