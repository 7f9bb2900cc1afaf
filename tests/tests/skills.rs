//! Skills as people write them, in numbers: every one gets its verdicts, and a second look
//! opens nothing.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use portcullis::SkillChannel;
use portcullis::extension::{Level, Scope};
use portcullis::registry::ContentStore;
use portcullis::skill::{
    Load, LocalSkills, ScanCode, ScanLimits, Scanner, SkillLoader, SkillOrigin, SkillRoot,
};
use portcullis_model::capability::CapabilityKind;
use portcullis_model::config::ChannelsConfig;
use portcullis_tests::quirk::{self, QUIRKS};

use crate::place::Place;

const SENTINEL: &str = "SENTINEL-OF-A-BODY";

#[tokio::test]
async fn a_model_is_told_one_line_for_each_skill_and_no_text_and_a_skill_is_no_tool() {
    let skills = tempfile::tempdir().unwrap();
    let write = |name: &str, fields: &str| {
        let directory = skills.path().join(name);
        fs::create_dir_all(&directory).unwrap();
        let text = format!("---\nname: {name}\n{fields}\n---\n{SENTINEL}\n");
        fs::write(directory.join("SKILL.md"), text).unwrap();
    };
    write("git-commit", "description: Commits.\nserves: vcs");
    write("bash", "description: \"Writes scripts.\\n- forged: line\\u202e\"");
    write("broken", "description:");
    let root = SkillRoot::new(skills.path().to_owned(), SkillOrigin::User);
    let channel = SkillChannel::new(&ChannelsConfig::default()).unwrap();
    let loader = SkillLoader::new(Arc::new(ContentStore::new(1 << 20)));
    let local = LocalSkills::new(Scanner::new(vec![root], ScanLimits::default()), channel, loader);
    let host = Place::new().open("").await;
    host.register(Arc::new(local), Level::Pool, &Scope::default(), None).await.unwrap();

    let turn = host.session("s1").turn();
    let text = turn.standing().await.text;
    for line in ["- git-commit: Commits.", "- bash: Writes scripts. - forged: line"] {
        assert_eq!(text.lines().filter(|own| *own == line).count(), 1, "{text}");
    }
    assert!(!text.contains(SENTINEL) && !text.contains("broken"), "{text}");
    assert!(turn.surface().shown().all(|tool| tool.name != "git-commit"), "a skill is no tool");
    let epoch = turn.epoch();
    write("git-commit", "description: Commits.\nserves: vcs\nlicense: MIT");
    host.reconcile().await;
    assert!(host.session("s1").turn().epoch() > epoch, "another text is another skill");
    let report = host.capabilities();
    let kinds = report.rows.iter().filter(|row| row.capability.id.kind == CapabilityKind::Skill);
    assert_eq!(kinds.count(), 2);
}

#[test]
fn every_quirk_of_two_thousand_skills_gets_its_verdicts() {
    let place = tempfile::tempdir().unwrap();
    let written = quirk::write(place.path(), 2_000).unwrap();
    let root = SkillRoot::new(place.path().to_owned(), SkillOrigin::Named);
    let catalog = Scanner::new(vec![root], ScanLimits::default()).look();
    let found: BTreeMap<&str, _> = catalog.all().iter().map(|skill| (skill.slug.as_str(), skill)).collect();
    assert_eq!(found.len(), written.len());
    let (mut seen, mut wrong) = (BTreeSet::new(), Vec::new());
    for own in &written {
        let skill = found.get(own.slug.as_str()).unwrap();
        let is = (skill.load().as_str(), skill.is_conforming().unwrap());
        if is != (own.quirk.load, own.quirk.conforming) {
            let codes: Vec<_> = skill.all_findings().map(|finding| finding.code.as_str()).collect();
            wrong.push(format!("{}: {is:?} with {codes:?}", own.slug));
        }
        assert_eq!(skill.load() == Load::Skip, skill.state.as_str() == "skipped", "{}", own.slug);
        seen.insert(own.quirk.name);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen.len(), QUIRKS.len(), "every quirk is among them");
    assert!(catalog.is_whole);
    assert!(catalog.problems.iter().all(|problem| problem.code == ScanCode::LinkNotFollowed));
    assert_eq!(catalog.problems.len(), 4);
}
