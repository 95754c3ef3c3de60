/* Calls that are recorded and replayed (kernels.h): what goes into the stream is captured into a
 * CUDA graph, which a replay launches as a whole. The mode is thread-local: this thread's calls
 * that a capture forbids are refused, those of others are their own affair.
 *
 * Not everything that an operation does can be done again by a graph. What cannot (memory that
 * is taken, copies of weights that are old, anything that waits) says so by cuda_not_recorded
 * before it begins. That ends the capture, and until `recorded` the calls do nothing: the
 * program makes them again, unrecorded. So do errors of CUDA itself while calls are recorded; an
 * error that is a lost device is met again then.
 *
 * ISOGLOT_CUDA_GRAPHS=0: nothing is recorded, to measure what it brings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernels/cuda/cuda.h"

static struct {
    cudaGraphExec_t exec;
    bool there;                             /* exec is what was recorded last */
    char why_not[160]; /* why the last recording did not succeed, "" if it did */
} graph;

static void not_recorded(const char *what, cudaError_t e)
{
    snprintf(graph.why_not, sizeof graph.why_not, "%s%s%s", what, e == cudaSuccess ? "" : ": ",
             e == cudaSuccess ? "" : cudaGetErrorString(e));
    cudaGetLastError();                     /* or the next launch would seem to have failed */
}

bool cuda_not_recorded(const char *what)
{
    if (cuda.recording != CUDA_RECORDS) return false;
    cudaGraph_t part = NULL;
    cudaStreamEndCapture(cuda.stream, &part);
    if (part) cudaGraphDestroy(part);
    not_recorded(what, cudaSuccess);
    cuda.recording = CUDA_SKIPS;
    return true;
}

static bool graph_record(void)
{
    const char *wanted = getenv("ISOGLOT_CUDA_GRAPHS");
    if (cuda_lost() || cuda.recording != CUDA_CALLS) return false;
    /* Whatever happens now, what was recorded before is not what would be replayed. */
    graph.there = false;
    if (wanted && strcmp(wanted, "0") == 0) {
        not_recorded("ISOGLOT_CUDA_GRAPHS=0", cudaSuccess);
        return false;
    }
    cudaError_t e = cudaStreamBeginCapture(cuda.stream, cudaStreamCaptureModeThreadLocal);
    if (e != cudaSuccess) {
        not_recorded("recording", e);
        return false;
    }
    memory_recording();
    cuda.recording = CUDA_RECORDS;
    return true;
}

/* exec becomes `made`, a new one for each recording. To change the old one by cudaGraphExecUpdate
 * is not the same: on an H100 (CUDA 13.0) a step whose products had other kernels of cuBLASLt then
 * gave other words, with no error. A launch of the old one may still be under way; CUDA lets it
 * end. */
static cudaError_t executable(cudaGraph_t made)
{
    if (graph.exec) cudaGraphExecDestroy(graph.exec);
    graph.exec = NULL;
    return cudaGraphInstantiate(&graph.exec, made, 0);
}

static bool graph_recorded(void)
{
    bool whole = cuda.recording == CUDA_RECORDS;
    /* From here on calls do their work again, recorded or not. */
    cuda.recording = CUDA_CALLS;
    /* what could not be recorded has ended the capture already */
    if (!whole) return false;
    cudaGraph_t made = NULL;
    cudaError_t e = cudaStreamEndCapture(cuda.stream, &made);
    if (e == cudaSuccess) e = executable(made);
    if (made) cudaGraphDestroy(made);
    if (e != cudaSuccess) {
        not_recorded("recording", e);
        return false;
    }
    graph.why_not[0] = 0;
    return graph.there = true;
}

static void graph_replay(void)
{
    if (cuda_lost() || cuda_not_recorded("a replay") || cuda.recording == CUDA_SKIPS) return;
    if (!graph.there) {
        cuda_failed_because(
            "calls are replayed that were not recorded, or whose weights were released since");
        return;
    }
    /* Copies of weights first: a replay reads what memory holds by then. */
    memory_replay();
    if (!cuda_lost()) cuda_failed(cudaGraphLaunch(graph.exec, cuda.stream), "replaying");
}

void graph_forget(void) { graph.there = false; }

const char *graph_describe(void)
{
    static char text[sizeof graph.why_not + 32];
    snprintf(text, sizeof text, "%s%s", *graph.why_not ? ", nothing recorded: " : "",
             graph.why_not);
    return text;
}

void graph_table(struct kernels *k)
{
    k->record = graph_record;
    k->recorded = graph_recorded;
    k->replay = graph_replay;
}
