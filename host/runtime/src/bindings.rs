//! What `bindgen!` makes of the folder `wit/`.

#![allow(
    missing_debug_implementations,
    unreachable_pub,
    clippy::wildcard_enum_match_arm,
    clippy::allow_attributes_without_reason,
    reason = "generated"
)]

wasmtime::component::bindgen!({
    path: "../../wit",
    world: "portcullis:plugin/full-plugin",
    imports: { default: trappable },
    exports: { default: async },
    require_store_data_send: true,
    with: {
        "portcullis:host/call.tool-call": crate::handle::CallHandle,
        "portcullis:host/call.script": crate::handle::ScriptHandle,
        "portcullis:host/event.occurrence": crate::handle::OccurrenceHandle,
        "portcullis:host/invocation.invocation": crate::handle::InvocationHandle,
    },
});
