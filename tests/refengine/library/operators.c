/* Three operators behind the C interface of a library of operators, version 11, without any header of an engine:
   scaled_square(x, k=2) = k * x * x with a gradient, two_halves(x) with two outputs and none, and one that always fails. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef void *(*allocate)(void *, int);

static const char *message = "";

static float factor(const char *const *keys, const char *const *values, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i], "k") == 0) return (float)atof(values[i]);
    return 2;
}

static int forward_square(float k, void **in, const int64_t *shape, int dims, void **out, allocate get, void *arg) {
    int64_t n = 1;
    for (int i = 0; i < dims; i++) n *= shape[i];
    float *x = in[0], *y = out[0], *scratch = get(arg, (int)(n * sizeof(float)));
    for (int64_t i = 0; i < n; i++) scratch[i] = k * x[i];
    for (int64_t i = 0; i < n; i++) y[i] = scratch[i] * x[i];
    return 1;
}

static int backward_square(float k, void **in, const int64_t *shape, int dims, void **out) {
    int64_t n = 1;
    for (int i = 0; i < dims; i++) n *= shape[i];
    float *dy = in[0], *x = in[1], *dx = out[0];
    for (int64_t i = 0; i < n; i++) dx[i] = 2 * k * x[i] * dy[i];
    return 1;
}

static const char *cpu[] = {"cpu"};
static void *forwards[] = {(void *)1}, *backwards[] = {(void *)2}, *halves[] = {(void *)3}, *failing[] = {(void *)4};
static const char *names[] = {"t_scaled_square", "t_two_halves", "t_failing"};

int _opVersion(void) { return VERSION; }
int initialize(int version) { return version >= 10700; }
int _opRegSize(void) { return 3; }
int _msgSize(void) { return message[0] != 0; }
void _msgGet(int index, const char **text) { *text = message; message = ""; }
void _opCallFree(void *pointer) { free(pointer); }

void _opRegGet(int index, const char **name, int *subgraph, const char ***forward_ctx, void ***forward,
               int *forward_count, const char ***backward_ctx, void ***backward, int *backward_count,
               const char ***state_ctx, void ***state, int *state_count, void **parse, void **type, void **stype,
               void **shape, void **mutate) {
    *name = names[index];
    *subgraph = 0;
    *forward_ctx = *backward_ctx = *state_ctx = cpu;
    *forward = index == 0 ? forwards : index == 1 ? halves : failing;
    *backward = backwards;
    *state = 0;
    *forward_count = 1;
    *backward_count = index == 0;
    *state_count = 0;
    *parse = *type = *stype = *shape = (void *)(intptr_t)(index + 10);
    *mutate = 0;
}

int _opCallParseAttrs(void *parse, const char *const *keys, const char *const *values, int count, int *inputs,
                      int *outputs) {
    for (int i = 0; i < count; i++)
        if (strcmp(keys[i], "bad") == 0) {
            message = "there is no parameter bad";
            return 0;
        }
    *inputs = 1;
    *outputs = (intptr_t)parse == 11 ? 2 : 1;
    return 1;
}

int _opCallInferShape(void *infer, const char *const *keys, const char *const *values, int count, unsigned **in,
                      int *dims, int inputs, unsigned ***mod, int **mod_dims, unsigned ***out, int **out_dims,
                      int outputs) {
    *mod = malloc(sizeof(unsigned *));
    *mod_dims = malloc(sizeof(int));
    (*mod)[0] = malloc(sizeof(unsigned) * (dims[0] + 1));
    (*mod_dims)[0] = dims[0];
    memcpy((*mod)[0], in[0], sizeof(unsigned) * dims[0]);
    if ((intptr_t)infer == 12) (*mod)[0][0] = 7; /* t_failing wants seven rows */
    *out = malloc(sizeof(unsigned *) * outputs);
    *out_dims = malloc(sizeof(int) * outputs);
    for (int o = 0; o < outputs; o++) {
        (*out)[o] = malloc(sizeof(unsigned) * (dims[0] + 1));
        memcpy((*out)[o], in[0], sizeof(unsigned) * dims[0]);
        if (outputs == 2) (*out)[o][0] = in[0][0] / 2;
        (*out_dims)[o] = dims[0];
    }
    return 1;
}

int _opCallInferType(void *infer, const char *const *keys, const char *const *values, int count, int *in, int inputs,
                     int *out, int outputs) {
    if (in[0] != 0) {
        message = "only float32";
        return 0;
    }
    for (int o = 0; o < outputs; o++) out[o] = in[0];
    return 1;
}

int _opCallFCompute(void *function, const char *const *keys, const char *const *values, int count,
                    const int64_t **in_shapes, int *in_dims, void **in, int *in_types, size_t *in_ids,
                    const char **in_ctx, int *in_ctx_ids, int inputs, const int64_t **out_shapes, int *out_dims,
                    void **out, int *out_types, size_t *out_ids, const char **out_ctx, int *out_ctx_ids, int outputs,
                    allocate get, void *get_arg, allocate get_gpu, void *get_gpu_arg, void *stream, void *sparse,
                    void *sparse_arg, int *in_stypes, int *out_stypes) {
    float k = factor(keys, values, count);
    if (strcmp(in_ctx[0], "cpu") != 0 || in_stypes[0] != 0) return 0;
    switch ((intptr_t)function) {
    case 1:
        return forward_square(k, in, in_shapes[0], in_dims[0], out, get, get_arg);
    case 2:
        return inputs == 3 && backward_square(k, in, in_shapes[1], in_dims[1], out);
    case 3: {
        int64_t n = 1;
        for (int i = 0; i < out_dims[0]; i++) n *= out_shapes[0][i];
        memcpy(out[0], in[0], n * sizeof(float));
        memcpy(out[1], (float *)in[0] + n, n * sizeof(float));
        return 1;
    }
    default:
        message = "as intended";
        return 0;
    }
}
