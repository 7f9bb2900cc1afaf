//! The skills and the commands that lie on this machine, for a host that offers them.

use std::sync::Arc;

use portcullis_model::config::Config;
use portcullis_model::extension::Extension;

use crate::command::{CommandPlaces, LocalCommands};
use crate::error::HostError;
use crate::extension::{Level, Scope};
use crate::policy::SkillChannel;
use crate::registry::ContentStore;
use crate::skill::{LocalSkills, ScanLimits, Scanner, SkillLoader, SkillPlaces};
use crate::world::World;

/// The bytes of skills that are kept, so that a turn reads what it began with.
const TEXTS_MAX: usize = 16 << 20;

/// Where skills and commands are looked for. Default: nowhere.
#[derive(Debug, Clone, Default)]
pub struct LocalPlaces {
    /// Skills. Which of them are meant is said by `[skills]`.
    pub skills: SkillPlaces,
    /// Commands. Those for other agents are meant as `[commands]` says.
    pub commands: CommandPlaces,
}

/// What looks for them, in a host.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    places: LocalPlaces,
    skills: Arc<LocalSkills>,
    commands: Arc<LocalCommands>,
}

impl Local {
    /// Finds nothing before it is asked.
    pub(crate) fn new(places: LocalPlaces, config: &Config) -> Result<Self, HostError> {
        let (scanner, channel) = skills(&places, config)?;
        let loader = SkillLoader::new(Arc::new(ContentStore::new(TEXTS_MAX)));
        let commands = CommandPlaces { compatible: config.commands.compat, ..places.commands.clone() };
        Ok(Self {
            skills: Arc::new(LocalSkills::new(scanner, channel, loader)),
            commands: Arc::new(LocalCommands::new(commands)),
            places,
        })
    }

    /// Registers both for everybody, and asks them.
    pub(crate) async fn register(&self, world: &World) -> Result<(), HostError> {
        for own in [Arc::clone(&self.skills) as Arc<dyn Extension>, Arc::clone(&self.commands) as _] {
            let registered = world.extensions().register(own, Level::Pool, &Scope::default(), None);
            registered.map_err(HostError::Register)?;
        }
        world.look_at_new_ones().await;
        Ok(())
    }

    /// Whether it can look as another configuration says.
    pub(crate) fn check(&self, config: &Config) -> Result<(), HostError> {
        skills(&self.places, config).map(drop)
    }

    /// Looks as another configuration says from now on.
    pub(crate) fn follow(&self, config: &Config) {
        // It was checked before it was taken over.
        let Ok((scanner, channel)) = skills(&self.places, config) else { return };
        self.skills.reconfigure(scanner, channel);
        self.commands.include_other_agents(config.commands.compat);
    }
}

fn skills(places: &LocalPlaces, config: &Config) -> Result<(Scanner, SkillChannel), HostError> {
    let roots = places.skills.configured(&config.skills).map_err(HostError::Skills)?;
    Ok((Scanner::new(roots, ScanLimits::default()), SkillChannel::new(&config.channels)?))
}
