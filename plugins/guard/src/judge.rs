//! One script, command by command.

use portcullis_sdk::{Command, Pipeline, Script};

use crate::category::Category;
use crate::download::Flow;
use crate::exempt::Places;
use crate::finding::Finding;
use crate::settings::Settings;
use crate::{device, fork_bomb, overwrite, program, sql, table, unknown};

/// Looks for the first command of a script that is refused.
pub(crate) struct Judge<'a> {
    settings: &'a Settings,
    script: &'a Script,
    /// Only where something is exempt.
    places: Option<Places<'a>>,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(settings: &'a Settings, cwd: &'a str, script: &'a Script) -> Self {
        let globs = settings.exempt.as_slice();
        let places = (!globs.is_empty()).then(|| Places::of(globs, cwd, script));
        Self { settings, script, places }
    }

    pub(crate) fn first(&self) -> Option<Finding<'a>> {
        let mut flow = Flow::default();
        let pipelines = self.script.pipelines();
        let found = pipelines.iter().enumerate().find_map(|(at, pipeline)| {
            let before = at.checked_sub(1).and_then(|at| pipelines.get(at));
            self.pipeline(pipeline, [before, pipelines.get(at + 1)], &mut flow)
        })?;
        Some(found.or_quote(self.script.source()))
    }

    fn pipeline(
        &self,
        pipeline: &'a Pipeline,
        [before, next]: [Option<&'a Pipeline>; 2],
        flow: &mut Flow<'a>,
    ) -> Option<Finding<'a>> {
        flow.begin_pipeline();
        let mut fed = false;
        for (at, command) in pipeline.commands.iter().enumerate() {
            let name = program::name(command);
            let name = name.as_deref();
            if let Some(finding) = self.command(name, command) {
                return Some(finding);
            }
            let whole = flow.check(name, command, next).or_else(|| sql::check(name?, pipeline, at, &mut fed));
            if let Some(category) = whole.filter(|category| self.settings.blocks(*category)) {
                return Some(if pipeline.commands.len() > 1 {
                    Finding::of_pipeline(category, pipeline)
                } else {
                    Finding::new(category, &command.source)
                });
            }
        }
        let bomb = fork_bomb::check(pipeline, before).filter(|category| self.settings.blocks(*category))?;
        Some(Finding::new(bomb, self.script.source()))
    }

    fn command(&self, name: Option<&str>, command: &'a Command) -> Option<Finding<'a>> {
        let refused = |category: &Category| {
            self.settings.blocks(*category)
                && !self.places.as_ref().is_some_and(|places| places.allow(*category, command))
        };
        let finding = |category| Finding::new(category, &command.source);
        if !command.writes.is_empty() {
            let redirected = device::redirection(command).or_else(|| overwrite::redirection(name, command));
            if let Some(category) = redirected.filter(refused) {
                return Some(finding(category));
            }
        }
        let Some(name) = name else { return unknown::check(command).filter(refused).map(finding) };
        if let Some(category) = table::by_name(name, command).filter(refused) {
            return Some(finding(category));
        }
        let mut patterns = self.settings.patterns.iter();
        let pattern = patterns.find(|pattern| pattern.matches(name, command))?;
        Some(Finding::by_pattern(pattern, &command.source))
    }
}
