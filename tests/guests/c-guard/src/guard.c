/* Refuses every call that runs a script, and says what it saw of it: the word
   `complete` or `incomplete`, and then one line for each pipeline. The host's
   test makes the same lines of what it handed over, and compares. */
#include "text.h"

/* Longer ones are told by their length and digest: the host cuts a reason. */
#define REASON_MAX 4000u

typedef portcullis_host_call_word_t word;
typedef portcullis_host_call_command_t command;
typedef portcullis_host_call_pipeline_t pipeline;

/* A word behind a blank and `mark`; one that only the shell can compute has a
   `$` before its quotes. */
static void show_word(text *to, const char *mark, const word *shown) {
    bool literal = shown->tag == PORTCULLIS_HOST_CALL_WORD_LITERAL;
    put(to, ' ');
    say(to, mark);
    if (!literal) {
        put(to, '$');
    }
    quote(to, literal ? &shown->val.literal : &shown->val.computed);
}

static void show_words(text *to, const char *mark, const portcullis_host_call_list_word_t *words) {
    for (size_t at = 0; at < words->len; at++) {
        show_word(to, mark, &words->ptr[at]);
    }
}

static void show_command(text *to, const command *shown) {
    quote(to, &shown->source);
    for (size_t at = 0; at < shown->via.len; at++) {
        say(to, " via ");
        quote(to, &shown->via.ptr[at]);
    }
    for (size_t at = 0; at < shown->assignments.len; at++) {
        say(to, " set ");
        quote(to, &shown->assignments.ptr[at].name);
        show_word(to, "", &shown->assignments.ptr[at].value);
    }
    show_words(to, "", &shown->words);
    show_words(to, "<", &shown->reads);
    show_words(to, ">", &shown->writes);
    if (shown->stdin_.is_some) {
        show_word(to, "<<", &shown->stdin_.val);
    }
}

static void show_script(text *to, portcullis_host_call_borrow_script_t script) {
    say(to, portcullis_host_call_method_script_complete(script) ? "complete" : "incomplete");
    portcullis_host_call_list_pipeline_t pipelines;
    portcullis_host_call_method_script_pipelines(script, &pipelines);
    for (size_t at = 0; at < pipelines.len; at++) {
        const pipeline *shown = &pipelines.ptr[at];
        put(to, '\n');
        for (size_t i = 0; i < shown->commands.len; i++) {
            if (i > 0) {
                say(to, " | ");
            }
            show_command(to, &shown->commands.ptr[i]);
        }
    }
}

/* FNV-1a. */
static uint64_t digest(const string *of) {
    uint64_t sum = 0xcbf29ce484222325u;
    for (size_t at = 0; at < of->len; at++) {
        sum = (sum ^ of->ptr[at]) * 0x100000001b3u;
    }
    return sum;
}

bool exports_portcullis_guard_guard_before_tool_call(
    exports_portcullis_guard_guard_borrow_tool_call_t call,
    exports_portcullis_guard_guard_option_refusal_t *ret,
    string *err
) {
    (void)err;
    text seen = {0};
    portcullis_host_call_list_own_script_t scripts;
    portcullis_host_call_method_tool_call_scripts(call, &scripts);
    for (size_t at = 0; at < scripts.len; at++) {
        if (at > 0) {
            put(&seen, '\n');
        }
        show_script(&seen, portcullis_host_call_borrow_script(scripts.ptr[at]));
    }
    portcullis_host_call_list_own_script_free(&scripts);
    portcullis_host_call_tool_call_drop_borrow(call);

    if (seen.is.len > REASON_MAX) {
        uint64_t sum = digest(&seen.is);
        text told = {0};
        hex(&told, seen.is.len, 8);
        put(&told, ' ');
        hex(&told, sum, 16);
        seen = told;
    }
    ret->is_some = seen.is.len > 0;
    if (ret->is_some) {
        guard_plugin_string_dup(&ret->val.code, "seen");
        ret->val.reason = seen.is;
    }
    return true;
}

void exports_portcullis_plugin_plugin_describe(exports_portcullis_plugin_plugin_info_t *ret) {
    guard_plugin_string_dup(&ret->name, "c-guard");
    guard_plugin_string_dup(&ret->description, "Refuses every script and says what it saw of it.");
    guard_plugin_string_dup(&ret->version, "0.1.0");
    ret->appendix.is_some = true;
    guard_plugin_string_dup(&ret->appendix.val, "The c-guard plugin refuses every script.");
    ret->serves.ptr = NULL;
    ret->serves.len = 0;
}
