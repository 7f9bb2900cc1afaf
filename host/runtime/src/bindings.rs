//! What `bindgen!` makes of the folder `wit/`.
//!
//! The host's own side is made of the newest version alone, which has everything that
//! the earlier ones have; the linker hands it to a plugin that asks for one of those.

#![allow(
    missing_debug_implementations,
    unreachable_pub,
    clippy::wildcard_enum_match_arm,
    clippy::allow_attributes_without_reason,
    reason = "generated"
)]

mod offered {
    wasmtime::component::bindgen!({
        inline: "
            package portcullis:runtime;
            world offered {
                import portcullis:host/log@0.1.1;
                import portcullis:host/settings@0.1.1;
                import portcullis:host/store@0.1.1;
                import portcullis:host/clock@0.1.1;
                import portcullis:host/terminal@0.1.1;
                import portcullis:host/call@0.1.1;
                import portcullis:host/event@0.1.1;
                import portcullis:host/invocation@0.1.1;
            }
        ",
        path: "../../wit",
        imports: { default: trappable },
        require_store_data_send: true,
        with: {
            "portcullis:host/call.tool-call": crate::handle::CallHandle,
            "portcullis:host/call.script": crate::handle::ScriptHandle,
            "portcullis:host/event.occurrence": crate::handle::OccurrenceHandle,
            "portcullis:host/invocation.invocation": crate::handle::InvocationHandle,
        },
    });
}

mod asked {
    wasmtime::component::bindgen!({
        inline: "
            package portcullis:runtime;
            world asked {
                export portcullis:plugin/plugin@0.1.0;
                export portcullis:guard/guard@0.1.0;
                export portcullis:hook/hook@0.1.0;
                export portcullis:tool/tool@0.1.0;
                export portcullis:command/command@0.1.0;
            }
        ",
        path: "../../wit",
        exports: { default: async },
        require_store_data_send: true,
        with: {
            "portcullis:host/call@0.1.0": super::host::call,
            "portcullis:host/event@0.1.0": super::host::event,
            "portcullis:host/invocation@0.1.0": super::host::invocation,
        },
    });
}

pub use asked::exports::portcullis as exports;
/// What a plugin may import.
pub use offered::portcullis::host0_1_1 as host;
