/* Threads that wait for a part of the next call. */
#include "bench/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* How often a thread looks for work before it sleeps: some 100 us, so that between two calls of a
 * sample nobody has to be woken. */
enum { LOOKS = 20000 };

static struct {
    int size; /* 0: not started */
    pthread_t threads[MAX_THREADS];
    int numbers[MAX_THREADS]; /* what each is told of itself */
    pthread_mutex_t lock;
    pthread_cond_t wake;
    atomic_int round;   /* counts calls; those who see a new number begin */
    atomic_int working; /* that are not done with this round */
    void (*part)(void *, int);
    void *context;
    int count;
} team = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

int team_size(void) {
    return team.size ? team.size : 1;
}

/* Gives the core to whoever else is waiting for it, now and then. */
static void look_again(int looks) {
    if (looks % 64 == 63)
        sched_yield();
}

static int wait_for_round(int seen) {
    for (int looks = 0; looks < LOOKS; looks++) {
        if (atomic_load(&team.round) != seen)
            return seen + 1;
        look_again(looks);
    }
    pthread_mutex_lock(&team.lock);
    while (atomic_load(&team.round) == seen)
        pthread_cond_wait(&team.wake, &team.lock);
    pthread_mutex_unlock(&team.lock);
    return seen + 1;
}

/* A round without work is the last. */
static void *serve(void *number) {
    int i = *(const int *)number;
    for (int round = wait_for_round(0); team.part; round = wait_for_round(round)) {
        if (i < team.count)
            team.part(team.context, i);
        atomic_fetch_sub(&team.working, 1);
    }
    return NULL;
}

static void begin_round(int count, void (*part)(void *, int), void *context) {
    team.part = part;
    team.context = context;
    team.count = count;
    atomic_store(&team.working, team.size - 1);
    pthread_mutex_lock(&team.lock);
    atomic_fetch_add(&team.round, 1);
    pthread_cond_broadcast(&team.wake);
    pthread_mutex_unlock(&team.lock);
}

bool team_start(int threads) {
    atomic_store(&team.round, 0);
    for (team.size = 1; team.size < threads; team.size++) {
        team.numbers[team.size] = team.size;
        if (pthread_create(&team.threads[team.size], NULL, serve, &team.numbers[team.size])) {
            team_stop();
            return false;
        }
    }
    return true;
}

void team_stop(void) {
    begin_round(0, NULL, NULL);
    for (int i = 1; i < team.size; i++)
        pthread_join(team.threads[i], NULL);
    team.size = 0;
}

void team_run(int count, void (*part)(void *context, int i), void *context) {
    if (team.size > 1)
        begin_round(count, part, context);
    part(context, 0);
    for (int looks = 0; team.size > 1 && atomic_load(&team.working); looks++)
        look_again(looks);
}
