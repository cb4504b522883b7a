//! `cargo xtask dist`: what a release consists of, built on this machine.
//!
//! | part | files | tools besides cargo |
//! |---|---|---|
//! | `archive` | `tercet-VERSION-TARGET.tar.gz`: the command, manual pages, completions | a C compiler; for musl Python 3 with `venv` |
//! | `deb` | package for Debian and Ubuntu | `cargo-deb` |
//! | `rpm` | package for Fedora, RHEL and SUSE | `cargo-generate-rpm` |
//! | `python` | wheel and source distribution | Python 3 with `venv` |
//! | `oci` | `tercet-VERSION-oci.tar`: a container image without a base | none |
//! | `sbom` | `tercet-VERSION.cdx.json`: all dependencies, as CycloneDX | none |
//!
//! `SHA256SUMS` lists the files. Archives and images carry the time of the commit, so that two builds of one commit differ in
//! nothing but what the compiler makes of it.

mod archive;
mod oci;
mod sbom;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use tercet_testing::repository;

/// The package with the command.
const PACKAGE: &str = "tercet";
const PARTS: [&str; 6] = ["archive", "deb", "rpm", "python", "oci", "sbom"];

/// What all parts use.
struct Dist {
    root: PathBuf,
    out: PathBuf,
    version: String,
    target: String,
    commit: Commit,
    /// The folder with the command, its pages and completions.
    stage: PathBuf,
}

/// When what is built was committed.
#[derive(Default)]
struct Commit {
    /// Seconds since 1970.
    time: u64,
    /// In the form of RFC 3339, UTC.
    date: String,
}

impl Commit {
    /// The last one; the beginning of 1970 where there is no repository.
    fn of(root: &Path) -> Self {
        let mut git = Command::new("git");
        git.args(["log", "-1", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--format=%ct %cd"])
            .env("TZ", "UTC");
        let commit = text(git.current_dir(root)).ok();
        let commit = commit.as_deref().and_then(|text| text.trim().split_once(' '));
        let (time, date) = commit.unwrap_or(("0", "1970-01-01T00:00:00Z"));
        Self { time: time.parse().unwrap_or(0), date: date.to_owned() }
    }
}

/// What is built, where to and for which machines.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Folder for the files of the release
    #[arg(long, value_name = "DIR", default_value = "dist")]
    out: PathBuf,
    /// Machines of the command, as rustc names them: musl of this machine if rustc has it
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Parts; without, all whose tools are installed
    #[arg(value_parser = PARTS)]
    parts: Vec<String>,
}

/// Builds the named parts, all by default.
///
/// # Errors
/// A build fails, or a part was named whose tool is missing. Without names, such a part is skipped with a line.
pub fn run(Options { out, target, parts }: Options, report: &mut impl Write) -> Result<(), String> {
    let root = repository();
    let out = root.join(out);
    let all = parts.is_empty();
    let parts = if all { PARTS.map(str::to_owned).to_vec() } else { parts };

    let version = env!("CARGO_PKG_VERSION").to_owned();
    let target = target.map_or_else(best_target, Ok)?;
    let commit = Commit::of(&root);
    fs::create_dir_all(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    // The metadata of the packages names it too.
    let stage = root.join("target/dist/stage");
    let dist = Dist { root, out, version, target, commit, stage };

    if parts.iter().any(|part| part != "python" && part != "sbom") {
        dist.build_command()?;
    }
    for part in parts {
        let missing = match part.as_str() {
            "deb" => tool("cargo-deb"),
            "rpm" => tool("cargo-generate-rpm"),
            _ => None,
        };
        match (missing, all) {
            (Some(missing), true) => _ = writeln!(report, "{part}: skipped, {missing}"),
            (Some(missing), false) => return Err(format!("{part}: {missing}")),
            (None, _) => dist.part(&part)?,
        }
    }
    dist.sums(report)
}

/// Says how to get a subcommand of cargo that is missing.
fn tool(name: &str) -> Option<String> {
    let verb = name.strip_prefix("cargo-").unwrap_or(name);
    let found = Command::new("cargo").args([verb, "--version"]).output();
    match found.is_ok_and(|output| output.status.success()) {
        true => None,
        false => Some(format!("{name} is not installed; run `cargo install {name} --locked`")),
    }
}

/// Linux: musl, which runs with every libc, if rustc has it; else what rustc builds for.
fn best_target() -> Result<String, String> {
    let version = text(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).ok_or("rustc names no host")?;
    let musl = host.replace("-gnu", "-musl");
    let libraries = text(Command::new("rustc").args(["--print", "target-libdir", "--target", &musl]))?;
    Ok(if Path::new(libraries.trim()).is_dir() { musl } else { host.to_owned() })
}

fn target_dir(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// The command compresses by level 1 of zstd alone, and needs none of what compresses more: 0.2 MB.
const LEVEL_ONE_OF_ZSTD: &str = "-DZSTD_EXCLUDE_DFAST_BLOCK_COMPRESSOR -DZSTD_EXCLUDE_GREEDY_BLOCK_COMPRESSOR \
    -DZSTD_EXCLUDE_LAZY_BLOCK_COMPRESSOR -DZSTD_EXCLUDE_LAZY2_BLOCK_COMPRESSOR -DZSTD_EXCLUDE_BTLAZY2_BLOCK_COMPRESSOR \
    -DZSTD_EXCLUDE_BTOPT_BLOCK_COMPRESSOR -DZSTD_EXCLUDE_BTULTRA_BLOCK_COMPRESSOR";

impl Dist {
    fn name(&self) -> String {
        format!("tercet-{}-{}", self.version, self.target)
    }

    fn part(&self, part: &str) -> Result<(), String> {
        let (out, target) = (self.out.display().to_string(), self.target.as_str());
        match part {
            "archive" => {
                let file = format!("{}.tar.gz", self.name());
                let octets = archive::gzip(&archive::tar(&self.stage, &self.name(), self.commit.time)?)?;
                self.write(&file, &octets)
            }
            "deb" => run_command(self.cargo().args([
                "deb",
                "-p",
                PACKAGE,
                "--no-build",
                "--no-strip",
                "--target",
                target,
                "--output",
                &out,
            ])),
            "rpm" => run_command(self.cargo().args([
                "generate-rpm",
                "-p",
                "crates/cli",
                "--target",
                target,
                "--auto-req",
                "disabled",
                "--output",
                &out,
            ])),
            "python" => run_command(self.in_root("scripts/python").args(["dist", &out])),
            "oci" => {
                let image = oci::image(&self.stage, &self.version, &self.target, &self.commit)?;
                self.write(&format!("tercet-{}-oci.tar", self.version), &image)
            }
            _ => {
                let octets = sbom::cyclone_dx(&self.root, PACKAGE, &self.commit)?;
                self.write(&format!("tercet-{}.cdx.json", self.version), &octets)
            }
        }
    }

    fn cargo(&self) -> Command {
        self.in_root("cargo")
    }

    fn in_root(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.root).env("SOURCE_DATE_EPOCH", self.commit.time.to_string());
        command
    }

    /// Builds the command, and lets it write its manual pages and completions into the stage.
    fn build_command(&self) -> Result<(), String> {
        // Zig brings a libc whose functions that copy memory are fast: musl's own cost 23 % of a conversion to JSON.
        let is_musl = self.target.ends_with("-musl");
        let (program, verb) = if is_musl { ("scripts/python", "zig") } else { ("cargo", "build") };
        let mut cargo = self.in_root(program);
        cargo.args([verb, "--profile", "dist", "-p", PACKAGE, "--target", &self.target]);
        // Cargo takes symbols away only where no package of the profile has an optimisation of its own.
        let mut flags = "-C strip=symbols".to_owned();
        if is_musl {
            let beside = self.root.join("xtask/src/dist");
            let (linker, script) = (beside.join("link-zig"), beside.join("no-frames.ld"));
            flags += &format!(" -C linker={}", linker.display());
            flags += &format!(" -C link-arg=-Wl,-T,{} -C link-arg=-Wl,--no-eh-frame-hdr", script.display());
            cargo.env(format!("CFLAGS_{}", self.target.replace('-', "_")), LEVEL_ONE_OF_ZSTD);
        }
        cargo.env("RUSTFLAGS", flags);
        run_command(&mut cargo)?;
        let built = target_dir(&self.root).join(&self.target).join("dist/tercet");
        let failed = |error: std::io::Error| format!("{}: {error}", self.stage.display());
        if self.stage.is_dir() {
            fs::remove_dir_all(&self.stage).map_err(failed)?;
        }
        for folder in ["man/man1", "completions"] {
            fs::create_dir_all(self.stage.join(folder)).map_err(failed)?;
        }
        let command = self.stage.join("tercet");
        fs::copy(&built, &command).map_err(failed)?;
        for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
            fs::copy(self.root.join(file), self.stage.join(file)).map_err(failed)?;
        }
        run_command(Command::new(&command).args(["man", "--dir"]).arg(self.stage.join("man/man1")))?;
        for (shell, file) in [("bash", "tercet.bash"), ("zsh", "_tercet"), ("fish", "tercet.fish")] {
            let script = text(Command::new(&command).args(["completions", shell]))?;
            fs::write(self.stage.join("completions").join(file), script).map_err(failed)?;
        }
        Ok(())
    }

    /// Writes a file of the release under a temporary name and renames it.
    fn write(&self, name: &str, octets: &[u8]) -> Result<(), String> {
        let (path, temporary) = (self.out.join(name), self.out.join(format!("{name}.tmp")));
        let written = fs::write(&temporary, octets).and_then(|()| fs::rename(&temporary, &path));
        written.map_err(|error| format!("{}: {error}", path.display()))
    }

    /// Writes the digests of all files of the release, in the form of `sha256sum`.
    fn sums(&self, report: &mut impl Write) -> Result<(), String> {
        const SUMS: &str = "SHA256SUMS";
        let failed = |error: std::io::Error| format!("{}: {error}", self.out.display());
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.out).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != SUMS && entry.path().is_file() {
                names.push(name);
            }
        }
        names.sort();
        let mut sums = String::new();
        for name in names {
            let octets = fs::read(self.out.join(&name)).map_err(failed)?;
            _ = writeln!(report, "{:>10} {}", octets.len(), self.out.join(&name).display());
            sums += &format!("{}  {name}\n", sha256(&octets));
        }
        self.write(SUMS, sums.as_bytes())
    }
}

/// The SHA-256 in hexadecimal.
fn sha256(octets: &[u8]) -> String {
    Sha256::digest(octets).iter().map(|octet| format!("{octet:02x}")).collect()
}

fn run_command(command: &mut Command) -> Result<(), String> {
    let status = command.status().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}")) }
}

fn text(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{:?}: {error}", command.get_program()))?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{command:?} does not print UTF-8"))
}
