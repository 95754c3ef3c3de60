/* VNNI: sum += four products of an unsigned byte and a signed one in each lane of 32 bits, as
 * AVX-512 and as AVX-VNNI encode it. As an intrinsic, GCC 12 copies the sums and spills them. */
#ifndef INT8_VNNI_H
#define INT8_VNNI_H
#define VNNI_512(sum, u, s) __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s))
#define VNNI_256(sum, u, s) __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sum) : "x"(u), "x"(s))
#endif
