#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

use super::{Deed, Language, deeds};
use crate::text::Text;

/// What a program does, one line each.
fn seen(language: Language, code: &str) -> Vec<String> {
    let words = |texts: &[Text]| texts.iter().map(Text::rendered).collect::<Vec<_>>().join("|");
    deeds(language, &Text::known(code))
        .into_iter()
        .map(|deed| match deed {
            Deed::Shell(text) => format!("sh {}", text.rendered()),
            Deed::Start(texts) => format!("start {}", words(&texts)),
            Deed::Command { words: texts, .. } => format!("do {}", words(&texts)),
            Deed::Write { path, .. } => format!("write {}", path.rendered()),
            Deed::Read { path, .. } => format!("read {}", path.rendered()),
            Deed::Eval(text) => format!("eval {}", text.rendered()),
        })
        .collect()
}

#[test]
fn python_runs_and_removes() {
    for (code, expected) in [
        ("import os; os.system('rm -rf src')", "sh rm -rf src"),
        ("cmd='rm -rf src'; import os; os.system(cmd)", "sh rm -rf src"),
        ("import os; os.system('r'+'m -rf src')", "sh rm -rf src"),
        ("import os; os.system('r' 'm -rf src')", "sh rm -rf src"),
        ("import os\nx='src'\nos.system(f'rm -rf {x}')", "sh rm -rf src"),
        ("import subprocess\nsubprocess.run(['rm', '-rf', 'src'], check=True)", "start rm|-rf|src"),
        ("import subprocess as s; s.run('rm -rf src'.split())", "start rm|-rf|src"),
        ("import subprocess, shlex; subprocess.call(shlex.split('rm -rf src'))", "start rm|-rf|src"),
        ("import shutil\nshutil.rmtree('/home/dev/app')", "do rm|-r|/home/dev/app"),
        ("from shutil import rmtree; from pathlib import Path; rmtree(Path('/a') / 'b')", "do rm|-r|/a/b"),
        ("import shutil, os; shutil.rmtree(os.path.join('/a', 'b'), ignore_errors=True)", "do rm|-r|/a/b"),
        ("import shutil, sys; shutil.rmtree(sys.argv[1])", "do rm|-r|sys.argv[1]"),
        ("from pathlib import Path; Path('a').unlink()", "do rm|a"),
        ("from pathlib import Path; p = Path('.env'); p.write_text('x')", "write .env"),
        ("open('.env', 'w').write('x')", "write .env"),
        ("with open('.env', mode='a') as f: pass", "write .env"),
        ("print(open('.env').read())", "read .env"),
        ("import os; os.execvp('rm', ['rm', '-rf', 'src'])", "start rm|-rf|src"),
        ("import os; os.execlp('rm', 'rm', '-rf', 'src')", "start rm|-rf|src"),
        ("from os import system as s; s('rm -rf src')", "sh rm -rf src"),
        ("import os; run_it = os.system; run_it('rm -rf src')", "sh rm -rf src"),
        ("import os; os.chmod('x', 0o777)", "do chmod|777|x"),
        ("exec(\"import os; os.system('rm -rf src')\")", "eval import os; os.system('rm -rf src')"),
    ] {
        assert_eq!(seen(Language::Python, code), [expected], "{code}");
    }
}

#[test]
fn an_escape_in_front_of_a_long_character_ends() {
    for language in [Language::Python, Language::JavaScript, Language::Perl, Language::Ruby] {
        assert_eq!(seen(language, "'\\cé' \"\\c漢\"; '\\é'"), <[&str; 0]>::default());
    }
    assert_eq!(seen(Language::Perl, r#"system("\x{72}m -rf src")"#), ["sh rm -rf src"]);
    assert_eq!(seen(Language::JavaScript, r#"execSync("\u{72}m -rf src")"#), ["sh rm -rf src"]);
}

#[test]
fn javascript_runs_and_removes() {
    for (code, expected) in [
        ("require('fs').rmSync('src',{recursive:true,force:true})", "do rm|-rf|src"),
        ("require('fs').rmSync('src',{recursive:false})", "do rm|src"),
        ("const fs=require('fs'); fs.rmdirSync('src', {recursive: true})", "do rm|-r|src"),
        ("require('fs').promises.rm('src', { recursive: true })", "do rm|-r|src"),
        ("require('child_process').execSync('rm -rf src')", "sh rm -rf src"),
        ("const d='src'; require('child_process').exec(`rm -rf ${d}`)", "sh rm -rf src"),
        ("require('child_process').spawnSync('rm', ['-rf', 'src'])", "start rm|-rf|src"),
        ("import('rimraf').then(m => m.rimraf('src'))", "do rm|-rf|src"),
        ("await Deno.remove('src', { recursive: true })", "do rm|-r|src"),
        ("require('fs').writeFileSync('.env', 'A=1')", "write .env"),
        ("const {execSync: e} = require('child_process'); e('rm -rf src')", "sh rm -rf src"),
        ("require('fs').unlinkSync('a')", "do rm|a"),
    ] {
        assert_eq!(seen(Language::JavaScript, code), [expected], "{code}");
    }
}

#[test]
fn the_other_languages_run_and_remove() {
    use Language::{Awk, Lua, Perl, Php, Ruby};
    for (language, code, expected) in [
        (Perl, "use File::Path; remove_tree(\"src\")", "do rm|-r|src"),
        (Perl, "system('rm -rf src')", "sh rm -rf src"),
        (Perl, "system 'rm', '-rf', 'src';", "start rm|-rf|src"),
        (Perl, "my $d = 'src'; `rm -rf $d`", "sh rm -rf src"),
        (Perl, "print qx(rm -rf src)", "sh rm -rf src"),
        (Perl, "exec qw(rm -rf src)", "start rm|-rf|src"),
        (Perl, "unlink 'a';", "do rm|a"),
        (Perl, "open(my $f, '|-', 'rm -rf src')", "sh rm -rf src"),
        (Perl, "open(F, 'rm -rf src|')", "sh rm -rf src"),
        (Perl, "open(my $f, '>', '.env')", "write .env"),
        (Ruby, "require 'fileutils'; FileUtils.rm_rf('src')", "do rm|-rf|src"),
        (Ruby, "FileUtils.rm_rf 'src'", "do rm|-rf|src"),
        (Ruby, "system('rm -rf src')", "sh rm -rf src"),
        (Ruby, "system 'rm', '-rf', 'src'", "start rm|-rf|src"),
        (Ruby, "d = 'src'; `rm -rf #{d}`", "sh rm -rf src"),
        (Ruby, "%x(rm -rf src)", "sh rm -rf src"),
        (Php, "shell_exec('rm -rf src');", "sh rm -rf src"),
        (Php, "$c = 'rm -rf ' . 'src'; exec($c);", "sh rm -rf src"),
        (Php, "unlink('a');", "do rm|a"),
        (Awk, "BEGIN{system(\"rm -rf src\")}", "sh rm -rf src"),
        (Awk, "BEGIN{\"rm -rf src\" | getline x}", "sh rm -rf src"),
        (Awk, "{print $1 | \"rm -rf src\"}", "sh rm -rf src"),
        (Lua, "os.execute('rm -rf src')", "sh rm -rf src"),
        (Lua, "io.popen([[rm -rf src]])", "sh rm -rf src"),
    ] {
        assert_eq!(seen(language, code), [expected], "{code}");
    }
}

#[test]
fn a_text_that_only_mentions_a_call_does_nothing() {
    for (language, code) in [
        (Language::Python, "msg = \"os.system('rm -rf /')\"\nprint(len(msg))"),
        (Language::Python, "# os.system('rm -rf /')\nprint(1)"),
        (Language::Python, "'''\nshutil.rmtree('/')\n'''"),
        (Language::Python, "print('rm -rf /home/dev')"),
        (Language::Python, "import os; print(os.environ.get('HOME'))"),
        (Language::Python, "def system(x): pass"),
        (Language::JavaScript, "// require('fs').rmSync('x')\nconsole.log(1)"),
        (Language::JavaScript, "/* execSync('rm -rf x') */"),
        (Language::JavaScript, "const re = /execSync('rm -rf x')/"),
        (Language::JavaScript, "console.log(\"fs.rmSync('x')\")"),
        (Language::Perl, "print \"system('rm -rf x')\""),
        (Language::Perl, "s/system('rm')/x/g"),
        (Language::Awk, "/system\\(\"rm -rf src\"\\)/ {print $1}"),
        (Language::Awk, "{print $1 \" rm -rf x\"}"),
    ] {
        assert!(seen(language, code).iter().all(|line| line == "sh x"), "{code}: {:?}", seen(language, code));
    }
}

#[test]
fn an_unknown_part_leaves_the_known_words_around_it() {
    let code = "import os, sys; os.system('rm -rf ' + sys.argv[1])";
    assert_eq!(seen(Language::Python, code), ["sh rm -rf sys.argv[1]"]);
    let deeds = deeds(Language::Python, &Text::known(code));
    let [Deed::Shell(text)] = deeds.as_slice() else { panic!("{deeds:?}") };
    assert!(text.as_known().is_none());
    assert!(text.raw().starts_with("rm -rf "));
}

#[test]
fn a_hole_in_the_code_stays_a_hole() {
    let mut code = Text::known("import shutil; shutil.rmtree('");
    code.push_hole("$DIR");
    code.push_str("')");
    let deeds = deeds(Language::Python, &code);
    let [Deed::Command { words, .. }] = deeds.as_slice() else { panic!("{deeds:?}") };
    assert_eq!(words.last().unwrap().rendered(), "$DIR");
    assert_eq!(words.last().unwrap().as_known(), None);
}

#[test]
fn a_deep_expression_is_unknown_and_the_stack_holds() {
    for (open, close) in [("[", "]"), ("(", ")"), ("str(", ")"), ("'a'.join(", ")"), ("new ", "")] {
        for levels in [10, 100_000] {
            let code = format!("system({}'rm -rf src'{})", open.repeat(levels), close.repeat(levels));
            let found = deeds(Language::Python, &Text::known(code));
            assert!(!found.is_empty(), "{open}");
        }
    }
    assert_eq!(seen(Language::Python, "system((('rm -rf src')))"), ["sh rm -rf src"]);
}

#[test]
fn ten_thousand_of_anything_is_answered() {
    for language in [
        Language::Python,
        Language::JavaScript,
        Language::Perl,
        Language::Ruby,
        Language::Php,
        Language::Awk,
        Language::Lua,
    ] {
        for piece in [
            "system(",
            "system('a'+",
            "x=x+x;",
            "(",
            "[",
            "{",
            "'",
            "\"",
            "`",
            "/",
            "f'{",
            "\"#{",
            "a.",
            "a.b(",
            "qw(",
            "%w(",
            "$x.",
            "\\",
            "é",
            "os.system('a');",
            "x='a';",
            "'a'.split().join(",
            "open(",
            "'''",
        ] {
            deeds(language, &Text::known(piece.repeat(10_000)));
        }
    }
}
