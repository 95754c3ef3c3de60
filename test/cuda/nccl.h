/* The part of NCCL that lib/ranks/nccl uses, between processes of one machine, for tests: see
 * cuda_runtime.h beside this. Communicators do not block: a call is under way until
 * ncclCommGetAsyncError has said so once and then success; another one before that ends the
 * program, and so does memory of the host, or a message that is not as long as its receiver has
 * it. What a group moves goes into its stream only then, which is as late as the rules allow.
 *
 *   ISOGLOT_EMULATE_NCCL=silent    a peer that is gone is no error: its messages never come
 *   ISOGLOT_EMULATE_NCCL=broken    the first message fails
 *   ISOGLOT_EMULATE_NCCL=whole     nothing fails: an abort ends the program */
#ifndef TEST_CUDA_NCCL_H
#define TEST_CUDA_NCCL_H
#include "cuda_runtime.h"

typedef struct ncclComm *ncclComm_t;
typedef struct { char internal[128]; } ncclUniqueId;
typedef enum {
    ncclSuccess = 0,
    ncclUnhandledCudaError = 1,
    ncclSystemError = 2,
    ncclRemoteError = 6,
    ncclInProgress = 7
} ncclResult_t;
typedef enum { ncclUint8 = 1 } ncclDataType_t;
typedef struct { int blocking; } ncclConfig_t;
#define NCCL_CONFIG_INITIALIZER { 1 }

extern "C" {
ncclResult_t ncclGetVersion(int *version);
ncclResult_t ncclGetUniqueId(ncclUniqueId *id);
ncclResult_t ncclCommInitRankConfig(ncclComm_t *comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t *config);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *state);
ncclResult_t ncclGroupStart(void);
ncclResult_t ncclGroupEnd(void);
ncclResult_t ncclSend(const void *data, size_t n, ncclDataType_t type, int to, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void *data, size_t n, ncclDataType_t type, int from, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
const char *ncclGetErrorString(ncclResult_t e);
const char *ncclGetLastError(ncclComm_t comm);
}

#endif
