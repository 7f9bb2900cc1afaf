//! The tools of a plugin, with what their arguments have to be.

use portcullis_model::extension::{ToolEntry, ToolTraits};
use portcullis_runtime::ToolDefinition;

use crate::schema::Schema;

/// A tool that a plugin brings.
#[derive(Debug)]
pub(crate) struct PluginTool {
    pub(crate) definition: ToolDefinition,
    pub(crate) schema: Schema,
}

impl PluginTool {
    /// What a model is told of it.
    pub(crate) fn entry(&self) -> ToolEntry {
        let ToolDefinition { name, description, serves, always_loaded, .. } = &self.definition;
        ToolEntry {
            name: name.clone(),
            description: description.clone(),
            schema: self.schema.value().clone(),
            traits: ToolTraits {
                serves: serves.iter().cloned().map(Into::into).collect(),
                always_loaded: *always_loaded,
                // The contract has no word for it.
                presents_card: false,
            },
        }
    }
}

/// A tool that a plugin brings and that nobody can call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) name: String,
    /// Why, as a sentence goes on.
    pub(crate) why: String,
    /// Who has the name, when that is why.
    pub(crate) owner: Option<String>,
}

impl LeftOut {
    pub(crate) fn warning(&self) -> String {
        format!("its tool `{}` is left out: {}", self.name, self.why)
    }
}

/// The tools that can be called, and the others: arguments that nobody can check are not
/// handed on. `is_asked_once` leaves the check to the first call.
pub(crate) fn sorted(
    definitions: Vec<ToolDefinition>,
    is_asked_once: bool,
) -> (Vec<PluginTool>, Vec<LeftOut>) {
    let mut tools = Vec::new();
    let mut left_out = Vec::new();
    for definition in definitions {
        let read = Schema::read(&definition.input_schema).and_then(|schema| {
            if !is_asked_once {
                schema.check().map_err(str::to_owned)?;
            }
            Ok(schema)
        });
        match read {
            Ok(schema) => tools.push(PluginTool { definition, schema }),
            Err(why) => left_out.push(LeftOut {
                name: definition.name,
                why: format!("its `input-schema` cannot be used: {why}"),
                owner: None,
            }),
        }
    }
    (tools, left_out)
}
