/* The least that a Cortex-M4 needs before main: where the stack is, where to begin, the floating-point unit on. */
#include <stdint.h>

extern uint32_t stack_top;
extern void _start(void); /* the C library's */

static void reset(void)
{
    *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20; /* CPACR: full access to coprocessors 10 and 11 */
    __asm volatile("dsb\n\tisb");
    _start();
}

__attribute__((section(".vectors"), used)) static const void *const vectors[2] = {&stack_top, (const void *)reset};
