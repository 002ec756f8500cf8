/* The search of ordering.py: operations change places, millions of times, and stay where a processor is done sooner.

   `estimate` says what `emdeg.programs.registers` and `emdeg.programs.pipeline` say together, to the last bit: which
   value is in a register when, and when each result is known. Names are those of that text, and so are all numbers,
   which ordering.py hands over. Values are numbered: instructions first, in the order in which they were given, then
   inputs. */

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { NEVER = INT_MAX, READS = 8, HELD = 64 };

struct program {
    int instructions, inputs, literals, results;
    const int *start, *reads; /* what instruction k reads: reads[start[k]] to reads[start[k + 1]] */
    const int *wave, *product, *latency, *numbers;
    const int *stores; /* of instructions and inputs: entries of outputs */
    const int *result; /* those that have any, in the order of the outputs */
};

struct processor {
    int registers, near, at_once, under_way, waiting, units, read, cached;
    double access, decoded;
};

struct list {
    int many;
    int *at;
};

static const struct program *code;
static const struct processor *cpu;

/* what is where */
static int *coming, *first_coming, *next_coming; /* when each value is read; what comes after the next */
static int *next_use, *reads_input;
static int *when, *lying, *place, *in_register;
static int held[HELD], many_held, now_reading, storing;
static struct list waiting_stores;

/* when it is there */
static int *known, *there;
static unsigned char *products, *sums, *reads, *writes;
static struct list done, queue;
static int now, begun, last;
static long accesses;

static int **const arrays[] = {&coming, &first_coming, &next_coming, &next_use, &reads_input, &when,     &lying,
                               &place,  &in_register,  &known,       &there,    &done.at,     &queue.at, &waiting_stores.at};
static unsigned char **const units[] = {&products, &sums, &reads, &writes};

static int values(void) { return code->instructions + code->inputs; }

static void pass(int value) { next_use[value] = coming[next_coming[value]++]; }

static int taken(unsigned char *unit, int at, int units, int memory)
{
    accesses += memory;
    while (unit[at] >= units) ++at;
    ++unit[at];
    return at;
}

static void begin(void)
{
    if (begun >= cpu->at_once) {
        ++now;
        begun = 0;
    }
    if (done.many >= cpu->under_way && done.at[done.many - cpu->under_way] > now) {
        now = done.at[done.many - cpu->under_way];
        begun = 0;
    }
    ++begun;
}

static void end(int at)
{
    if (at > last) last = at;
    done.at[done.many++] = last;
}

static void queue_up(int at)
{
    int here = queue.many++;
    while (here && queue.at[(here - 1) / 2] > at) {
        queue.at[here] = queue.at[(here - 1) / 2];
        here = (here - 1) / 2;
    }
    queue.at[here] = at;
}

static int first_of_queue(void)
{
    const int first = queue.at[0], moving = queue.at[--queue.many];
    int here = 0, below = 1;
    while (below < queue.many) {
        if (below + 1 < queue.many && queue.at[below + 1] < queue.at[below]) ++below;
        if (queue.at[below] >= moving) break;
        queue.at[here] = queue.at[below];
        here = below;
        below = 2 * here + 1;
    }
    queue.at[here] = moving;
    return first;
}

static int later(int one, int other) { return one > other ? one : other; }

static void load(int value)
{
    begin();
    known[value] = taken(reads, later(now + 1, there[value]), cpu->units, 1) + cpu->read;
    end(known[value]);
}

static void write(int value, int keeping)
{
    begin();
    const int at = taken(writes, later(now + 1, value < 0 ? 0 : known[value]), 1, 1) + 1;
    if (keeping) there[value] = at;
    end(at);
}

static void compute(int value)
{
    if (code->wave[value]) return;
    begin();
    int ready = now + 1, far = 0;
    for (int k = code->start[value]; k < code->start[value + 1]; ++k) {
        const int arg = code->reads[k];
        if (known[arg] >= 0) {
            ready = later(ready, known[arg]);
            continue;
        }
        if (far) {
            begin();
            end(now + cpu->read);
        }
        ++far;
        ready = later(ready, taken(reads, later(now + 1, there[arg]), cpu->units, 1) + cpu->read);
    }
    for (int k = 0; k < code->numbers[value]; ++k)
        ready = later(ready, taken(reads, now + 1, cpu->units, 1) + cpu->read);
    while (queue.many && queue.at[0] <= now) first_of_queue();
    if (queue.many >= cpu->waiting) {
        now = first_of_queue();
        begun = 1;
    }
    const int at = taken(code->product[value] ? products : sums, ready, cpu->units, 0);
    queue_up(at);
    known[value] = at + code->latency[value];
    end(known[value]);
}

static void let_go(int value)
{
    int k = 0;
    while (held[k] != value) ++k;
    memmove(held + k, held + k + 1, (size_t)(--many_held - k) * sizeof *held);
    in_register[value] = 0;
}

static void hold(int value, const int *pinned, int many_pinned)
{
    if (many_held >= cpu->registers) {
        int leaving = -1, use = -1;
        for (int k = 0; k < many_held; ++k) {
            int stays = 0;
            for (int j = 0; j < many_pinned; ++j) stays |= pinned[j] == held[k];
            if (!stays && next_use[held[k]] > use) use = next_use[leaving = held[k]];
        }
        let_go(leaving);
        if (!lying[leaving] && !place[leaving]) {
            place[leaving] = 1;
            write(leaving, 1);
        }
        known[leaving] = -1;
    }
    if (!in_register[value]) {
        held[many_held++] = value;
        in_register[value] = 1;
    }
}

static void bring(const int *read, int many)
{
    int far[READS], count = 0;
    for (int k = 0; k < many; ++k) {
        if (in_register[read[k]]) continue;
        int at = count++;
        for (; at && next_use[far[at - 1]] > next_use[read[k]]; --at) far[at] = far[at - 1];
        far[at] = read[k];
    }
    for (int k = 0; k < count; ++k) {
        const int again = next_use[far[k]];
        if (again == NEVER || again - now_reading > 2 * cpu->near) continue;
        int room = many_held < cpu->registers;
        for (int j = 0; j < many_held && !room; ++j) room = again < next_use[held[j]];
        if (room) {
            load(far[k]);
            hold(far[k], read, many);
        }
    }
}

static void leave(const int *read, int many)
{
    for (int k = 0; k < many; ++k) {
        if (next_use[read[k]] < NEVER) continue;
        if (in_register[read[k]]) let_go(read[k]);
        place[read[k]] = 0;
    }
}

static void store_waiting(void)
{
    now_reading = storing;
    for (int k = 0; k < waiting_stores.many; ++k) pass(waiting_stores.at[k]);
    for (int k = 0; k < code->literals; ++k) write(-1, 0);
    for (int k = 0; k < waiting_stores.many; ++k)
        for (int entry = 0; entry < code->stores[waiting_stores.at[k]]; ++entry) write(waiting_stores.at[k], 0);
    leave(waiting_stores.at, waiting_stores.many);
}

/* When each value is read, for an order of the instructions. */
static void foresee(const int *order)
{
    const int n = code->instructions;
    storing = -1;
    for (int k = 0; k < n; ++k) {
        when[order[k]] = 2 * k;
        if (reads_input[order[k]]) storing = 2 * k + 1;
    }
    waiting_stores.many = 0;
    for (int k = 0; k < code->results; ++k)
        if (code->result[k] >= n || when[code->result[k]] < storing)
            waiting_stores.at[waiting_stores.many++] = code->result[k];
    memcpy(next_coming, first_coming, (size_t)values() * sizeof(int));
    for (int k = 0, stored = 0; k <= n; ++k) {
        if (!stored && (k == n || 2 * k > storing)) {
            for (int j = 0; j < waiting_stores.many; ++j) coming[next_coming[waiting_stores.at[j]]++] = storing;
            stored = 1;
        }
        for (int j = k < n ? code->start[order[k]] : 0; k < n && j < code->start[order[k] + 1]; ++j)
            coming[next_coming[code->reads[j]]++] = 2 * k;
    }
    for (int value = 0; value < values(); ++value) {
        coming[next_coming[value]] = NEVER;
        next_coming[value] = first_coming[value];
        pass(value);
    }
}

static double cycles(const int *order)
{
    const int n = code->instructions;
    foresee(order);
    for (int value = 0; value < values(); ++value) {
        known[value] = -1;
        lying[value] = value >= n ? !code->stores[value] : code->wave[value];
    }
    memset(there, 0, (size_t)values() * sizeof(int));
    memset(place, 0, (size_t)values() * sizeof(int));
    memset(in_register, 0, (size_t)values() * sizeof(int));
    for (int k = 0; k < 4; ++k) memset((unsigned char *[]){products, sums, reads, writes}[k], 0, (size_t)last + 1);
    many_held = done.many = queue.many = now = begun = last = 0;
    accesses = 0;
    for (int k = 0; k < waiting_stores.many; ++k)
        if (waiting_stores.at[k] >= n) {
            load(waiting_stores.at[k]);
            hold(waiting_stores.at[k], NULL, 0);
        }
    if (storing < 0) store_waiting();
    for (int k = 0; k < n; ++k) {
        const int value = order[k], many = code->start[value + 1] - code->start[value];
        const int *read = code->reads + code->start[value];
        now_reading = 2 * k;
        for (int j = 0; j < many; ++j) pass(read[j]);
        if (!code->wave[value]) bring(read, many);
        leave(read, many);
        compute(value);
        if (now_reading > storing)
            for (int entry = 0; entry < code->stores[value]; ++entry) write(value, 0);
        if (!lying[value] && next_use[value] < NEVER) hold(value, NULL, 0);
        if (now_reading + 1 == storing) store_waiting();
    }
    return last + cpu->access * (double)accesses + cpu->decoded * later(0, done.many - cpu->cached);
}

static int prepare(const struct program *given, const struct processor *processor)
{
    code = given;
    cpu = processor;
    last = 0;
    int stores = code->literals, slowest = cpu->read + 1;
    for (int value = 0; value < values(); ++value) stores += code->stores[value];
    for (int k = 0; k < code->instructions; ++k) slowest = later(slowest, code->latency[k]);
    const int steps = 3 * (code->start[code->instructions] + 2 * values()) + stores + code->instructions;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k)
        if (!(*arrays[k] = calloc((size_t)steps, sizeof(int)))) return 0;
    for (size_t k = 0; k < sizeof units / sizeof *units; ++k) /* one step after the other, at worst */
        if (!(*units[k] = calloc((size_t)steps, (size_t)slowest + 2))) return 0;
    for (int k = 0; k < code->instructions; ++k)
        for (int j = code->start[k]; j < code->start[k + 1]; ++j) {
            ++next_coming[code->reads[j]];
            reads_input[k] |= code->reads[j] >= code->instructions;
        }
    for (int value = 0, sum = 0; value < values(); sum += next_coming[value++] + 2) first_coming[value] = sum;
    return 1;
}

static void put_away(void)
{
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k) free(*arrays[k]);
    for (size_t k = 0; k < sizeof units / sizeof *units; ++k) free(*units[k]);
}

/* About how many cycles an order takes; less than 0 where there is no memory. */
double estimate(const struct program *given, const struct processor *processor, const int *order)
{
    const double found = prepare(given, processor) ? cycles(order) : -1;
    put_away();
    return found;
}

static uint64_t state;

static uint64_t drawn(void) /* Marsaglia's xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int below(int many) { return (int)(drawn() % (uint64_t)many); }

static double chance(void) { return (double)(drawn() >> 11) / 9007199254740992.0; }

static void move(int *order, int *at, int here, int there_)
{
    const int one = order[here], low = here < there_ ? here : there_, high = here < there_ ? there_ : here;
    if (here < there_)
        memmove(order + here, order + here + 1, (size_t)(there_ - here) * sizeof *order);
    else
        memmove(order + there_ + 1, order + there_, (size_t)(here - there_) * sizeof *order);
    order[there_] = one;
    for (int k = low; k <= high; ++k) at[order[k]] = k;
}

/* The best order found by so many tries, put into `best`; its cycles, less than 0 where there is no memory.

   One operation is moved between what it reads and what reads it. It stays there if the order is no slower, and by
   chance where it is, the less often the slower and the later: annealing, from `warm` to `cold` cycles. Sines, which
   come first, stay. */
double search(const struct program *given, const struct processor *processor, long tries, uint64_t seed, double warm,
              double cold, const int *far, int many_far, int *best)
{
    const int n = given->instructions;
    int *order = malloc((size_t)n * sizeof *order), *at = malloc((size_t)n * sizeof *at);
    int *reader_start = calloc((size_t)n + 2, sizeof *reader_start);
    int *readers = malloc((size_t)given->start[n] * sizeof *readers + 1);
    double least = -1;
    if (!prepare(given, processor) || !order || !at || !reader_start || !readers) goto end;
    int first = 0;
    for (int k = 0; k < n; ++k) {
        order[k] = at[k] = best[k] = k;
        if (code->wave[k]) first = k + 1;
        for (int j = code->start[k]; j < code->start[k + 1]; ++j)
            if (code->reads[j] < n) ++reader_start[code->reads[j] + 2];
    }
    for (int k = 0; k < n; ++k) reader_start[k + 2] += reader_start[k + 1];
    for (int k = 0; k < n; ++k)
        for (int j = code->start[k]; j < code->start[k + 1]; ++j)
            if (code->reads[j] < n) readers[reader_start[code->reads[j] + 1]++] = k;
    state = 88172645463325252u + 7919 * seed;
    double now_cycles = least = cycles(order);
    for (long tried = 0; tried < tries && first < n; ++tried) {
        const double heat = warm * pow(cold / warm, (double)tried / (double)tries);
        const int here = first + below(n - first), one = order[here], reach = far[below(many_far)];
        int low = later(here - reach, first), high = here + reach < n - 1 ? here + reach : n - 1;
        for (int k = code->start[one]; k < code->start[one + 1]; ++k)
            if (code->reads[k] < n) low = later(low, at[code->reads[k]] + 1);
        for (int k = reader_start[one]; k < reader_start[one + 1]; ++k)
            if (at[readers[k]] - 1 < high) high = at[readers[k]] - 1;
        const int goal = low + below(high - low + 1);
        if (goal == here) continue;
        move(order, at, here, goal);
        const double tried_cycles = cycles(order);
        if (tried_cycles <= now_cycles || chance() < exp((now_cycles - tried_cycles) / heat)) {
            now_cycles = tried_cycles;
            if (now_cycles < least) {
                least = now_cycles;
                memcpy(best, order, (size_t)n * sizeof *best);
            }
        } else
            move(order, at, goal, here);
    }
end:
    put_away();
    free(order);
    free(at);
    free(reader_start);
    free(readers);
    return least;
}
