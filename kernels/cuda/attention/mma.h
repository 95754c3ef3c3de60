/* Tensor-core products of bfloat16 tiles in shared memory, and copies that fill such tiles while
 * others are worked on (sm_80).
 *
 * A warp multiplies A [16, 16] by B [16, 8] and adds to C [16, 8]. With lane = 4 g + t, C's
 * registers of a lane are rows g (0, 1) and g + 8 (2, 3), columns 2 t and 2 t + 1; two
 * neighbouring C tiles, rounded to pairs, are an A of the next product. */
#ifndef KERNELS_CUDA_ATTENTION_MMA_H
#define KERNELS_CUDA_ATTENTION_MMA_H
#include "kernels/cuda/device.h"

/* Rows of a tile are DIM + 8 elements apart: the 8 rows of 16 bytes that one load takes lie in
 * different banks. */
template <int DIM> struct tile_of { static const int stride = DIM + 8; };

#ifdef __CUDACC__
static __device__ __forceinline__ unsigned shared_address(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

static __device__ __forceinline__ void mma(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, "
                 "%6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
static __device__ __forceinline__ void load_four(uint32_t r[4], const bf16 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}
static __device__ __forceinline__ void load_four_transposed(uint32_t r[4], const bf16 *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row))
                 : "memory");
}
/* 16 bytes; zeros where there are none (from is a valid address even then). */
static __device__ __forceinline__ void copy_begin(bf16 *to, const bf16 *from, bool there)
{
    /* .cg: through the second-level cache alone; each tile is used from shared memory. */
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)),
                 "l"(from), "r"(there ? 16 : 0)
                 : "memory");
}
static __device__ __forceinline__ void copies_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> static __device__ __forceinline__ void copies_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
#else
static inline void mma(float c[4], const uint32_t a[4], const uint32_t b[2])
{
    emulate_mma_bf16(c, a, b);
}
static inline void load_four(uint32_t r[4], const bf16 *row) { emulate_ldmatrix(r, 4, false, row); }
static inline void load_four_transposed(uint32_t r[4], const bf16 *row)
{
    emulate_ldmatrix(r, 4, true, row);
}
static inline void copy_begin(bf16 *to, const bf16 *from, bool there)
{
    emulate_cp_async(to, from, there);
}
static inline void copies_commit() { emulate_cp_async_commit(); }
template <int N> static inline void copies_wait() { emulate_cp_async_wait(N); }
#endif

/* A: rows row .. row + 15, columns k .. k + 15 of a tile. */
template <int DIM>
static __device__ __forceinline__ void load_a(uint32_t a[4], const bf16 *tile, int row, int k)
{
    int lane = (int)threadIdx.x % 32;
    load_four(a, tile + (row + lane % 16) * tile_of<DIM>::stride + k + lane / 16 * 8);
}
/* Two Bs whose columns are rows col .. col + 7 and col + 8 .. col + 15 of a tile, their k its
 * columns k .. k + 15. */
template <int DIM>
static __device__ __forceinline__ void load_b(uint32_t b[4], const bf16 *tile, int col, int k)
{
    int lane = (int)threadIdx.x % 32;
    load_four(b, tile + (col + lane / 16 * 8 + lane % 8) * tile_of<DIM>::stride + k +
                     lane / 8 % 2 * 8);
}
/* Two Bs whose k are rows k .. k + 15 of a tile, their columns its columns col .. col + 7 and
 * col + 8 .. col + 15. */
template <int DIM>
static __device__ __forceinline__ void load_b_rows(uint32_t b[4], const bf16 *tile, int k, int col)
{
    int lane = (int)threadIdx.x % 32;
    load_four_transposed(b, tile + (k + lane / 8 % 2 * 8 + lane % 8) * tile_of<DIM>::stride + col +
                                lane / 16 * 8);
}
/* A that lies transposed: rows k .. k + 15, columns col .. col + 15 of a tile whose rows are
 * STRIDE apart. */
template <int STRIDE>
static __device__ __forceinline__ void load_a_rows(uint32_t a[4], const bf16 *tile, int k, int col)
{
    int lane = (int)threadIdx.x % 32;
    load_four_transposed(a, tile + (k + lane / 16 * 8 + lane % 8) * STRIDE + col +
                                lane / 8 % 2 * 8);
}
/* The A that two neighbouring Cs are. */
static __device__ __forceinline__ void a_of(uint32_t a[4], const float left[4],
                                            const float right[4])
{
    a[0] = pair_of(left[0], left[1]);
    a[1] = pair_of(left[2], left[3]);
    a[2] = pair_of(right[0], right[1]);
    a[3] = pair_of(right[2], right[3]);
}

/* Begins to fill a tile with rows first .. first + ROWS - 1 of a matrix that has n (the others:
 * zeros), by THREADS threads: each copies the same columns of every THREADS / (DIM / 8)-th row, so
 * that an address is the one before and a constant. Where threads do not divide so, each address by
 * itself. */
template <int DIM, int ROWS, int THREADS>
static __device__ __forceinline__ void fetch(bf16 *tile, const bf16 *from, int ld, int first, int n)
{
    const int across = DIM / 8;
    if constexpr (THREADS % across == 0 && ROWS * across % THREADS == 0) {
        const int by = THREADS / across;
        int r = (int)threadIdx.x / across, c = (int)threadIdx.x % across * 8;
        const bf16 *at = from + (size_t)(first + r) * ld + c;
        bf16 *to = tile + r * tile_of<DIM>::stride + c;
        size_t on = (size_t)by * ld;
/* A thread's addresses differ by constants. With the number of turns unknown to the compiler
 * each copy took 30 instructions to compute its own. */
#pragma unroll
        for (int j = 0; j < ROWS * across / THREADS; j++) {
            bool there = first + r + j * by < n;
            copy_begin(to + j * by * tile_of<DIM>::stride, there ? at : from, there);
            at += on;
        }
    } else for (int i = (int)threadIdx.x; i < ROWS * across; i += THREADS) {
        int r = i / across, c = i % across * 8;
        bool there = first + r < n;
        copy_begin(tile + r * tile_of<DIM>::stride + c,
                   there ? from + (size_t)(first + r) * ld + c : from, there);
    }
}

#endif
