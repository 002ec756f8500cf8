/* Torques of the arm at one state: the same file for a computer and for a Cortex-M4. Prints micro-newton-metres. */
#include <stdio.h>

typedef float real; /* as the generated file, which was made with --float */

void my_arm_inverse_dynamics(const real *q, const real *qd, const real *qdd, real *tau);

int main(void)
{
    const real q[6] = {0.1f, 0.4f, -0.6f, 0.2f, 0.5f, 0.3f};
    const real qd[6] = {0.5f, -0.4f, 0.3f, 0.2f, -0.1f, 0.6f};
    const real qdd[6] = {1.0f, -2.0f, 1.5f, 0.5f, 2.0f, -1.0f};
    real tau[6];

    my_arm_inverse_dynamics(q, qd, qdd, tau);
    for (int i = 0; i < 6; ++i)
        printf("%ld%c", (long)(tau[i] * 1e6f), i < 5 ? ' ' : '\n');
    return 0;
}
