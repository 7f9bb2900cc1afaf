//! A core module in, a component out.

use anyhow::bail;
use wit_component::{ComponentEncoder, DecodedWasm};

pub(super) fn lift(module: &[u8]) -> anyhow::Result<Vec<u8>> {
    ComponentEncoder::default().validate(true).module(module)?.encode()
}

/// Its size, and what it imports and exports.
pub(super) fn summary(component: &[u8]) -> anyhow::Result<String> {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(component)? else {
        bail!("not a component");
    };
    let Some(world) = resolve.worlds.get(world) else { bail!("a component without a world") };
    let names = |items: Vec<&wit_parser::WorldKey>| -> String {
        let mut names: Vec<_> = items.into_iter().map(|key| resolve.name_world_key(key)).collect();
        names.sort();
        names.join(", ")
    };
    Ok(format!(
        "{} bytes\n  imports {}\n  exports {}",
        component.len(),
        names(world.imports.keys().collect()),
        names(world.exports.keys().collect())
    ))
}

/// Fails when a component holds a path of the machine that built it, which
/// would tell where it was built and differ on the next machine.
pub(super) fn ensure_portable(component: &[u8], paths: &[String]) -> anyhow::Result<()> {
    for path in paths {
        if let Some(at) = find(component, path.as_bytes()) {
            let end = component.len().min(at + 120);
            let around = component.get(at..end).unwrap_or_default();
            bail!("it holds a path of this machine: `{}`", around.escape_ascii());
        }
    }
    Ok(())
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len().max(1)).position(|window| window == wanted)
}

#[cfg(test)]
mod tests {
    use super::ensure_portable;

    #[test]
    fn a_component_with_a_machine_path_is_not_shipped() {
        // Put together here, so that this file may be looked at as well.
        let paths = ["home", "root"].map(|folder| format!("/{folder}/"));
        let path = format!("{}x.rs", paths[1]);
        let error = ensure_portable(format!("..panicked at {path}..").as_bytes(), &paths).unwrap_err();
        assert!(error.to_string().contains(&path));
        ensure_portable(b"panicked at /portcullis/x.rs", &paths).unwrap();
    }
}
