// OpenGL devices: opened in a context of their own and in the caller's, refused, and lost.
#include "allocator.h"
#include "gl_tools.h"
#include "sapwood/gl.h"
#include "test.h"

#if defined(SAP_HAVE_GL)
#include "calls.h"

static const char* const no_gl = "no OpenGL ES here";

TEST(opens_a_context_of_its_own) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device_options options = watched(&w);
    options.processor = SAP_GL;
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    sap_device_info info;
    CHECK_STATUS(sap_device_describe(device, &info), SAP_OK);
    CHECK(info.processor == SAP_GL && info.name[0] && info.threads > 0);
    sap_gl_info context;
    CHECK_STATUS(sap_gl_describe(device, &context), SAP_OK);
    CHECK(context.max_texture_size >= 2048 && context.max_draw_buffers >= 4);
    CHECK_STATUS(sap_gl_describe(device, NULL), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_gl_describe(NULL, &context), SAP_ERROR_ARGUMENT);
    CHECK_STATUS(sap_device_wait(device), SAP_OK);
    sap_device_trim(device);
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
    CHECK_EQUAL(w.wrong, 0);
}

TEST(describing_a_context_needs_one) {
    watch w = {0};
    sap_device_options options = watched(&w);
    sap_device* device = NULL;
    sap_gl_info context;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK_STATUS(sap_gl_describe(device, &context), SAP_ERROR_UNSUPPORTED);
    CHECK_TEXT(w.sentence, "this CPU device cannot describe a context of OpenGL");
    sap_device_close(device);
}

TEST(refuses_to_open) {
    if (!gl_tools_present()) SKIP(no_gl);
    if (gl_tools_in_browser()) SKIP("a browser has no EGL to be missing");
    watch w = {0};
    sap_device_options options = watched(&w);
    options.processor = SAP_GL;
    sap_device* device = NULL;
    CHECK_STATUS(gl_tools_open_without_egl(&options, &device), SAP_ERROR_NO_DEVICE);
    CHECK_TEXT(w.sentence, "this machine has no EGL (libSapwoodHasNoSuchEGL.so.1)");
    options.ordinal = 1000;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_ERROR_NO_DEVICE);
    CHECK_TEXT(w.sentence, "options.ordinal: EGL has no such device with OpenGL ES 3.0");
    options.ordinal = 0;
    options.current_context = true;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_ERROR_NO_DEVICE);
    CHECK_TEXT(w.sentence, "options.current_context: no context is current here");
    CHECK(!device);
    CHECK_EQUAL(w.blocks, 0);
}

TEST(opening_survives_every_failed_allocation) {
    if (!gl_tools_present()) SKIP(no_gl);
    for (int n = 1;; n++) {
        NOTE("allocation %d", n);
        watch w = {.fail_from = n};
        sap_device_options options = watched(&w);
        options.processor = SAP_GL;
        sap_device* device = NULL;
        sap_status status = sap_device_open(&options, &device);
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
        if (status == SAP_OK && w.requests < n) break;
        CHECK_STATUS(status, SAP_ERROR_MEMORY);
        if (!CHECK(n < 50)) break;
    }
}

static sap_device_options in_current_context(watch* w) {
    sap_device_options options = watched(w);
    options.processor = SAP_GL;
    options.current_context = true;
    return options;
}

TEST(works_in_the_callers_context_and_leaves_it_as_it_was) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    const sap_device_options options = in_current_context(&w);
    sap_device* device = NULL;
    if (!CHECK(gl_tools_enter_own())) return;
    gl_tools_set_state();
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    CHECK(gl_tools_state_kept());
    CHECK_STATUS(sap_device_wait(device), SAP_OK);
    CHECK(gl_tools_state_kept());
    sap_device_close(device);
    CHECK(gl_tools_state_kept());
    CHECK_EQUAL(w.blocks, 0);
    gl_tools_leave_own();
}

TEST(a_device_in_a_context_that_is_not_current_says_so) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    const sap_device_options options = in_current_context(&w);
    sap_device* device = NULL;
    if (!CHECK(gl_tools_enter_own())) return;
    CHECK_STATUS(sap_device_open(&options, &device), SAP_OK);
    gl_tools_leave_own();
    CHECK(gl_tools_enter_old()); // in a browser another context
    CHECK_STATUS(sap_device_wait(device), SAP_ERROR_ARGUMENT);
    CHECK_TEXT(w.sentence, "the context that was current when the device was opened is not current here");
    gl_tools_leave_old();
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
}

TEST(a_lost_context_stays_lost) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device_options options = watched(&w);
    options.processor = SAP_GL;
    sap_device* device = NULL;
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    CHECK_STATUS(sap_device_wait(device), SAP_OK);
    gl_tools.lose_at = gl_tools.calls + 1;
    CHECK_STATUS(sap_device_wait(device), SAP_ERROR_DEVICE_LOST);
    CHECK_TEXT(w.sentence, "the OpenGL context was lost while working");
    gl_tools.lose_at = 0;
    CHECK_STATUS(sap_device_wait(device), SAP_ERROR_DEVICE_LOST);
    CHECK_TEXT(w.sentence, "the OpenGL context was lost; close the device");
    sap_device_close(device);
    CHECK_EQUAL(w.blocks, 0);
}

// A host whose callbacks wait for the device that calls them.
typedef struct host {
    watch w;
    sap_device* device;
    sap_status expected;
    int depth, calls;
} host;

static void wait_again(host* h) {
    if (h->depth || !h->device) return;
    h->depth++;
    h->calls++;
    CHECK_STATUS(sap_device_wait(h->device), h->expected);
    h->depth--;
}

static void* wait_and_allocate(void* user, size_t bytes, size_t alignment) {
    host* h = user;
    wait_again(h);
    return watch_allocate(&h->w, bytes, alignment);
}

static void release(void* user, void* memory, size_t bytes) { watch_release(&((host*)user)->w, memory, bytes); }

static void log_and_wait(void* user, sap_status status, const char* sentence) {
    host* h = user;
    watch_log(&h->w, status, sentence);
    wait_again(h);
}

// The log is called once other calls may begin. An allocator is called within a call, and gets a status.
TEST(callbacks_call_their_device) {
    if (!gl_tools_present()) SKIP(no_gl);
    host h = {.expected = SAP_ERROR_ARGUMENT};
    const sap_device_options options = {.processor = SAP_GL,
                                        .threads = 1,
                                        .allocator = {wait_and_allocate, release, &h},
                                        .log = log_and_wait,
                                        .log_user = &h};
    sap_device* device = NULL;
    sap_tree* tree = NULL;
    int32_t ids[3];
    cloud points = cloud_of_family(FAMILY_UNIFORM, 1000, 3, 32, 0, 1), few = cloud_part(&points, 0, 3);
    gl_tools_reset();
    CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    CHECK_STATUS(build(device, &points, NULL, &tree), SAP_OK);
    sap_device_trim(device);
    h.device = device;
    CHECK_STATUS(nearest(tree, &few, &(sap_search){.k = 1}, ids, NULL), SAP_OK);
    for (int32_t i = 0; i < 3; i++) CHECK_EQUAL(ids[i], i);
    CHECK(h.calls > 0);
    CHECK_TEXT(h.w.sentence, "a callback called the OpenGL device that had called it");
    h.calls = 0;
    h.expected = SAP_ERROR_DEVICE_LOST;
    gl_tools.lose_at = gl_tools.calls + 1;
    CHECK_STATUS(sap_device_wait(device), SAP_ERROR_DEVICE_LOST);
    CHECK_EQUAL(h.calls, 1);
    h.device = NULL;
    sap_tree_free(tree);
    sap_device_close(device);
    CHECK_EQUAL(h.w.blocks, 0);
    cloud_free(&points);
}

TEST(a_context_may_be_lost_at_any_call_of_opening) {
    if (!gl_tools_present()) SKIP(no_gl);
    gl_tools_reset();
    for (int64_t n = 1;; n++) {
        NOTE("call %d", (int)n);
        watch w = {0};
        sap_device_options options = watched(&w);
        options.processor = SAP_GL;
        sap_device* device = NULL;
        gl_tools_reset();
        gl_tools.lose_at = n;
        sap_status status = gl_tools_open(&options, &device);
        bool all = gl_tools.calls < n;
        sap_device_close(device);
        CHECK_EQUAL(w.blocks, 0);
        CHECK(status == (all ? SAP_OK : SAP_ERROR_NO_DEVICE));
        if (all || !CHECK(n < 2000)) break;
    }
}

TEST(says_what_a_context_lacks) {
    if (!gl_tools_present()) SKIP(no_gl);
    watch w = {0};
    sap_device_options options = watched(&w);
    options.processor = SAP_GL;
    sap_device* device = NULL;
    gl_tools_reset();
    gl_tools.no_float_targets = true;
    CHECK_STATUS(gl_tools_open(&options, &device), SAP_OK);
    sap_gl_info context;
    CHECK_STATUS(sap_gl_describe(device, &context), SAP_OK);
    CHECK(!context.float_targets);
    CHECK(context.version == 30);
    CHECK_EQUAL(w.logged, SAP_OK);
    CHECK(strstr(w.sentence, "GL_EXT_color_buffer_float"));
    sap_device_close(device);
}

#else

TEST(no_opengl) {
    sap_device* device = NULL;
    CHECK_STATUS(sap_device_open(&(sap_device_options){.processor = SAP_GL}, &device), SAP_ERROR_NO_DEVICE);
    SKIP("this build has no OpenGL ES");
}

#endif

TEST_MAIN()
