package io.tercet.maven;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.apache.maven.plugin.AbstractMojo;
import org.apache.maven.plugin.MojoExecutionException;
import org.apache.maven.plugins.annotations.LifecyclePhase;
import org.apache.maven.plugins.annotations.Mojo;
import org.apache.maven.plugins.annotations.Parameter;
import org.apache.maven.project.MavenProject;

/**
 * Generates Java classes for ASN.1 specifications with {@code tercet compile --language java}, and adds them to the sources of
 * the project. Does nothing if neither the specifications nor the options nor the command have changed.
 */
@Mojo(name = "generate", defaultPhase = LifecyclePhase.GENERATE_SOURCES, threadSafe = true)
public class GenerateMojo extends AbstractMojo {
    /** The command: a path, or a name that is looked up on PATH. */
    @Parameter(property = "tercet.command", defaultValue = "tercet")
    private String command;

    /** Specifications: files, or folders of them. */
    @Parameter(defaultValue = "${project.basedir}/src/main/asn1", required = true)
    private List<File> specifications;

    /** The types to begin with; without, those that no other type refers to. */
    @Parameter
    private List<String> roots;

    /** The encoding rules. */
    @Parameter(defaultValue = "ber", required = true)
    private List<String> rules;

    /** The package of the classes; without, the name of the first module in lower case. */
    @Parameter
    private String packageName;

    /** Choices about the types, in TOML. */
    @Parameter
    private File overlay;

    /** The folder of the generated sources. */
    @Parameter(defaultValue = "${project.build.directory}/generated-sources/tercet", required = true)
    private File outputDirectory;

    /** Whether nothing is generated. */
    @Parameter(property = "tercet.skip", defaultValue = "false")
    private boolean skip;

    @Parameter(defaultValue = "${project}", readonly = true, required = true)
    private MavenProject project;

    /** Made by Maven. */
    public GenerateMojo() {}

    @Override
    public void execute() throws MojoExecutionException {
        if (skip) {
            getLog().info("skipped");
            return;
        }
        project.addCompileSourceRoot(outputDirectory.getPath());
        List<String> line = line();
        try {
            Path stamp = outputDirectory.toPath().resolve(".tercet-inputs");
            String inputs = inputs(line);
            if (Files.exists(stamp) && Files.readString(stamp).equals(inputs)) {
                getLog().info("nothing changed");
                return;
            }
            Files.createDirectories(outputDirectory.toPath());
            Files.deleteIfExists(stamp);
            run(line);
            Files.writeString(stamp, inputs);
        } catch (IOException fault) {
            throw new MojoExecutionException(fault.getMessage(), fault);
        }
    }

    private List<String> line() {
        List<String> line = new ArrayList<>(List.of(command, "compile", "--language", "java"));
        for (File specification : specifications) {
            line.addAll(List.of("--schema", specification.getPath()));
        }
        if (roots != null && !roots.isEmpty()) {
            line.addAll(List.of("--roots", String.join(",", roots)));
        }
        line.addAll(List.of("--rules", String.join(",", rules)));
        if (packageName != null) {
            line.addAll(List.of("--package", packageName));
        }
        if (overlay != null) {
            line.addAll(List.of("--overlay", overlay.getPath()));
        }
        line.addAll(List.of("--output", outputDirectory.getPath()));
        return line;
    }

    /** What the sources follow from: the command line, the version of the command, and the bytes of all files. */
    private String inputs(List<String> line) throws IOException, MojoExecutionException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException fault) {
            throw new IllegalStateException(fault);
        }
        List<Path> files = new ArrayList<>();
        for (File specification : specifications) {
            if (!specification.exists()) {
                throw new MojoExecutionException("no specification " + specification);
            }
            try (Stream<Path> found = Files.walk(specification.toPath())) {
                found.filter(Files::isRegularFile).sorted().forEach(files::add);
            }
        }
        if (overlay != null) {
            files.add(overlay.toPath());
        }
        for (Path file : files) {
            digest.update(file.toString().getBytes(StandardCharsets.UTF_8));
            byte[] content = Files.readAllBytes(file);
            digest.update((byte) 0);
            digest.update(Long.toString(content.length).getBytes(StandardCharsets.UTF_8));
            digest.update((byte) 0);
            digest.update(content);
        }
        String version = output(List.of(command, "--version"));
        return String.join("\n", line) + "\n" + version + HexFormat.of().formatHex(digest.digest()) + "\n";
    }

    private void run(List<String> line) throws MojoExecutionException {
        getLog().info(String.join(" ", line));
        output(line).lines().forEach(warning -> getLog().warn(warning));
    }

    private String output(List<String> line) throws MojoExecutionException {
        try {
            Process process = new ProcessBuilder(line).redirectErrorStream(true).start();
            String text;
            try (InputStream out = process.getInputStream()) {
                text = new String(out.readAllBytes(), StandardCharsets.UTF_8);
            }
            int code = process.waitFor();
            if (code != 0) {
                throw new MojoExecutionException("tercet ends with exit code " + code + "\n" + text.strip());
            }
            return text;
        } catch (IOException fault) {
            throw new MojoExecutionException(
                    "cannot run `" + command + "`; install tercet, or name the command with -Dtercet.command=PATH", fault);
        } catch (InterruptedException fault) {
            Thread.currentThread().interrupt();
            throw new MojoExecutionException("interrupted", fault);
        }
    }
}
