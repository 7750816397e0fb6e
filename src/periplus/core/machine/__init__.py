"""Memory and bits as the processor has them: what kernels are written with, beside numba's own."""
