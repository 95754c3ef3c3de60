#include "lib/engine/saver.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "common/err.h"
#include "common/mem.h"

struct saver {
    const char *dir;
    const struct vocab *vocab;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct snapshot *job;            /* to be written or being written; NULL: idle */
    struct checkpoint_keep keep;     /* of that job */
    char *failed;                    /* the message, until somebody asked */
    bool over;
};

static int write_all(const struct saver *s, const struct snapshot *snap,
                     const struct checkpoint_keep *k)
{
    if (checkpoint_save(s->dir, snap, s->vocab) < 0) return -1;
    if (snap->st.best_step > 0 && checkpoint_link(s->dir, "best", snap->st.best_step) < 0)
        return -1;
    if (checkpoint_link(s->dir, "last", snap->st.step) < 0) return -1;
    return checkpoint_prune(s->dir, k);
}

static void *work(void *p)
{
    struct saver *s = p;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        while (!s->job && !s->over) pthread_cond_wait(&s->changed, &s->lock);
        if (!s->job) break;
        struct snapshot *snap = s->job;
        struct checkpoint_keep k = s->keep;
        pthread_mutex_unlock(&s->lock);
        int rc = write_all(s, snap, &k);
        snapshot_free(snap);
        pthread_mutex_lock(&s->lock);
        s->job = NULL;
        if (rc < 0) { free(s->failed); s->failed = err_keep(); }
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

struct saver *saver_new(const char *dir, const struct vocab *vocab)
{
    struct saver *s = mem_zero(1, sizeof *s);
    s->dir = dir; s->vocab = vocab;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    if (pthread_create(&s->thread, NULL, work, s) == 0) return s;
    err_set("no thread can be started to write checkpoints");
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
    return NULL;
}

/* With the lock held. */
static int outcome(struct saver *s)
{
    if (!s->failed) return 0;
    err_restore(s->failed);
    s->failed = NULL;
    return -1;
}

int saver_put(struct saver *s, struct snapshot *snap, const struct checkpoint_keep *k)
{
    int rc = saver_done(s, true);
    if (rc < 0) { snapshot_free(snap); return -1; }
    pthread_mutex_lock(&s->lock);
    s->job = snap;
    s->keep = *k;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    return 0;
}

int saver_done(struct saver *s, bool wait)
{
    pthread_mutex_lock(&s->lock);
    while (wait && s->job) pthread_cond_wait(&s->changed, &s->lock);
    int rc = outcome(s);
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void saver_free(struct saver *s)
{
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->over = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s->failed);
    free(s);
}
