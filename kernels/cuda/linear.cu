/* Products with weights, activations and their derivatives. */
#include "kernels/cuda/columns.h"

/* GELU's exact form, x Phi(x), and its derivative Phi(x) + x phi(x). In float32 Phi is exact to
 * the last digits of its small values too, which takes erfcf. To bfloat16 it is a float's 1 less
 * something: GELU_SHORT has Phi and phi by one exponential (Abramowitz and Stegun 7.1.26), within
 * 2.2e-7, in a third of the instructions, so that a pass over the states is bound by memory.
 *
 * The tanh form's value is made by cuBLASLt's epilogue where it can. Its DGELU epilogue is not
 * used: the states are made again and the bias's gradient is added up in the same pass that
 * multiplies by the slope, which then reads and writes no more than both would apart. */
enum { GELU_SHORT = 16 };

/* Value and slope of activation F; what is not used is not computed. */
template <int F> static __device__ __forceinline__ void activated(float x, float &y, float &slope)
{
    if (F == GELU_SHORT) {
        /* exp(-x^2 / 2) as a power of two; coefficients are halved, since Phi is erfc / 2. */
        float e = power2(x * x * -0.72134752f), t = reciprocal(fmaf(0.23164190f, fabsf(x), 1.0f));
        float p = fmaf(t, 0.53070271f, -0.72657601f);
        p = t * fmaf(t, fmaf(t, fmaf(t, p, 0.71070687f), -0.14224837f), 0.12741480f);
        float phi = x < 0 ? p * e : fmaf(-p, e, 1.0f);
        y = x * phi;
        slope = fmaf(x * 0.398942280f, e, phi);
    } else if (F == KERN_GELU) {
        float phi = 0.5f * erfcf(-0.70710678f * x);
        y = x * phi;
        slope = phi + x * 0.398942280f * expf(-0.5f * x * x);
    } else if (F == KERN_GELU_TANH) {
        /* x g, g the logistic function of w = 2 sqrt(2 / pi) (x + 0.044715 x^3), by e^-|w|; beyond
         * 10 that is 0, and x is held there, whose square might be infinite */
        float w = x * fmaf(0.0713548163f, x * x, 1.59576912f), e = power2(fabsf(w) * -1.44269504f);
        float high = reciprocal(1.0f + e), g = x < 0 ? e * high : high;
        float c = fminf(fmaxf(x, -10.0f), 10.0f);
        y = x * g;
        slope = fmaf(c * (e * high * high), fmaf(0.214064449f, c * c, 1.59576912f), g);
    } else if (F == KERN_TANH) {
        y = tanhf(x);
        slope = 1 - y * y;
    } else {
        y = x > 0 ? x : 0.0f;
        slope = x > 0 ? 1.0f : 0.0f;
    }
}

/* CALL with F, an activation of one's choice, as a constant. */
#define BY_ACTIVATION(f, CALL)                                                                     \
    do {                                                                                           \
        if ((f) == KERN_GELU) {                                                                    \
            enum { F = sizeof(T) == sizeof(bf16) ? (int)GELU_SHORT : (int)KERN_GELU };             \
            CALL;                                                                                  \
        } else if ((f) == KERN_GELU_TANH) {                                                        \
            enum { F = KERN_GELU_TANH };                                                           \
            CALL;                                                                                  \
        } else if ((f) == KERN_TANH) {                                                             \
            enum { F = KERN_TANH };                                                                \
            CALL;                                                                                  \
        } else {                                                                                   \
            enum { F = KERN_RELU };                                                                \
            CALL;                                                                                  \
        }                                                                                          \
    } while (0)

template <typename T, bool WHOLE, int F>
static __global__ void activate(T *Y, const T *pre, size_t n)
{
    size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (at >= n) return;
    int left = n - at < 8 ? (int)(n - at) : 8;
    eight x = load8<WHOLE>(pre + at, left);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float slope;
        activated<F>(x.x[i], x.x[i], slope);
    }
    store8<WHOLE>(Y + at, x, left);
}

/* dX = d f'(pre), or dX += with add. d may be dX. */
template <typename T, bool WHOLE, int F>
static __global__ void times_derivative(T *dX, const T *d, const T *pre, bool add, size_t n)
{
    size_t at = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 8;
    if (at >= n) return;
    int left = n - at < 8 ? (int)(n - at) : 8;
    eight x = load8<WHOLE>(d + at, left), p = load8<WHOLE>(pre + at, left), old;
    if (add) old = load8<WHOLE>(dX + at, left);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        float y, slope;
        activated<F>(p.x[i], y, slope);
        x.x[i] = x.x[i] * slope + (add ? old.x[i] : 0.0f);
    }
    store8<WHOLE>(dX + at, x, left);
}

template <typename T, int F> static void apply_as(T *Y, const T *pre, size_t n)
{
    if (whole8(n, Y, pre))
        LAUNCH((activate<T, true, F>), blocks_for(n, 2048), 256, 0, Y, pre, n);
    else LAUNCH((activate<T, false, F>), blocks_for(n, 2048), 256, 0, Y, pre, n);
}
template <typename T> static void apply(T *Y, const T *pre, enum kern_act f, size_t n)
{
    BY_ACTIVATION(f, (apply_as<T, F>(Y, pre, n)));
}

template <typename T> static void forward(const struct kern_linear_fwd *a)
{
    /* ReLU's epilogue leaves no values before it: where they are wanted it is a pass of its
     * own. */
    bool relu = a->f == KERN_RELU && !a->pre && a->b;
    if (a->f == KERN_GELU_TANH &&
        cuda_gemm_gelu_tanh(a->N, a->O, a->I, { a->X, a->I, MATRIX_ACT },
                            { a->W, a->I, MATRIX_WEIGHTS }, { a->Y, a->O, MATRIX_ACT }, a->b,
                            a->pre))
        return;
    /* Where the backward pass needs the values before the activation, the product goes there and
     * the activation reads it; otherwise Y is overwritten in place. */
    T *to = (T *)(a->f != KERN_NONE && a->pre ? a->pre : a->Y);
    cuda_gemm(false, true, a->N, a->O, a->I, { a->X, a->I, MATRIX_ACT },
              { a->W, a->I, MATRIX_WEIGHTS }, { to, a->O, MATRIX_ACT }, false, a->b, relu);
    if (a->f == KERN_NONE || relu) return;
    apply((T *)a->Y, (const T *)to, a->f, (size_t)a->N * (size_t)a->O);
}

void cuda_linear_fwd(const struct kern_linear_fwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(forward, a);
}

template <typename T, int F>
static void derive_as(T *dX, const T *d, const T *pre, bool add, size_t n)
{
    if (whole8(n, dX, d, pre))
        LAUNCH((times_derivative<T, true, F>), blocks_for(n, 2048), 256, 0, dX, d, pre, add, n);
    else LAUNCH((times_derivative<T, false, F>), blocks_for(n, 2048), 256, 0, dX, d, pre, add, n);
}
template <typename T>
static void derive(T *dX, const T *d, const T *pre, enum kern_act f, bool add, size_t n)
{
    BY_ACTIVATION(f, (derive_as<T, F>(dX, d, pre, add, n)));
}

/* What follows a product that gave d: dX = d f'(pre), its column sums, and pre = f(pre), in one
 * pass over both. */
template <typename T, bool WHOLE, int F> struct slopes_of {
    T *dX, *pre;                                        /* dX: d before */
    int D;
    bool again;
    __device__ void operator()(eight *sum, int row, int c, int left) const
    {
        size_t at = (size_t)row * D + c;
        eight x = load8<WHOLE>(dX + at, left), p = load8<WHOLE>(pre + at, left);
#pragma unroll
        for (int i = 0; i < 8; i++) {
            float slope;
            activated<F>(p.x[i], p.x[i], slope);
            /* The bias's gradient is the sum of what is stored. */
            x.x[i] = rounded<T>(x.x[i] * slope);
            sum[0].x[i] += x.x[i];
        }
        store8<WHOLE>(dX + at, x, left);
        if (again) store8<WHOLE>(pre + at, p, left);
    }
};

template <typename T, int F> static void slopes_as(T *dX, T *pre, bool again, float *db, int N,
                                                   int D)
{
    float *const out[1] = { db };
    if (whole8((size_t)D, dX, pre))
        cuda_columns<1>(out, slopes_of<T, true, F>{ dX, pre, D, again }, N, D);
    else cuda_columns<1>(out, slopes_of<T, false, F>{ dX, pre, D, again }, N, D);
}
template <typename T>
static void slopes(T *dX, T *pre, enum kern_act f, bool again, float *db, int N, int D)
{
    BY_ACTIVATION(f, (slopes_as<T, F>(dX, pre, again, db, N, D)));
}

template <typename T> static void backward(const struct kern_linear_bwd *a)
{
    T *dX = (T *)a->dX, *pre = (T *)a->pre_x;
    const T *dY = (const T *)a->dY, *X = (const T *)a->X;
    enum kern_act f = a->f;
    bool add = a->add;
    int N = a->N, I = a->I, O = a->O;
    bool factor = pre && f != KERN_NONE, again = factor && X == pre, separate = add && factor;
    size_t n = (size_t)N * (size_t)I;
    if (dX) {
        /* What is in dX already must not be multiplied by the slope: the product goes through
         * memory of its own. */
        T *to = separate ? (T *)cuda_scratch(SCRATCH_ACTS, n * sizeof(T)) : dX;
        if (!to) return;
        cuda_gemm(false, false, N, I, O, { dY, O, MATRIX_ACT }, { a->W, I, MATRIX_WEIGHTS },
                  { to, I, MATRIX_ACT }, add && !separate, NULL, false);
        if (factor && !separate && (again || a->db_x)) slopes(dX, pre, f, again, a->db_x, N, I);
        else if (factor) derive(dX, (const T *)to, pre, f, separate, n);
    }
    /* After derive(), which needs the values before the activation, and before dW, which needs
     * those after it; slopes() has made them in its own pass. */
    if (again && (!dX || separate)) apply(pre, (const T *)pre, f, n);
    if (a->dW)
        cuda_gemm(true, false, O, I, N, { dY, O, MATRIX_ACT }, { X, I, MATRIX_ACT },
                  /* `first`: nothing has been added yet, so nothing is read and nothing was
                   * zeroed. */
                  { a->dW, I, MATRIX_FLOAT }, !a->first, NULL, false);
    if (a->db) cuda_column_sums(a->db, dY, N, O, O);
}

void cuda_linear_bwd(const struct kern_linear_bwd *a)
{
    if (a->N > 0 && !cuda_lost()) BY_TYPE(backward, a);
}

template <typename T> static void derive_alone(const struct kern_act_bwd *a)
{
    derive((T *)a->dX, (const T *)a->dX, (const T *)a->pre, a->f, false, a->n);
}

void cuda_act_bwd(const struct kern_act_bwd *a)
{
    if (a->n > 0 && a->f != KERN_NONE && !cuda_lost()) BY_TYPE(derive_alone, a);
}
