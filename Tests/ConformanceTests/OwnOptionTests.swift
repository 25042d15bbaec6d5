import TestSupport
import Testing

/// Options of Ambit's own behind the app's name.
@Suite(.serialized, .waiting)
struct OwnOptionTests {
  @Test func `an option behind the app's name is the app's, and is warned about once`() throws {
    try Workspace.with(.root) { world in
      let echo = try world.bundle("Echo", identifier: "io.ambit.tests.echo", script: "#!/bin/sh\necho \"$@\"\n")
      for program in [echo, "/bin/echo"] {
        let outcome = try world.ambit("run", program, "--policy", "strict", "--trace")
        #expect(outcome.output == "--policy strict --trace\n" && outcome.exit == .status(0), "\(outcome)")
        #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome)")
        #expect(outcome.errors.contains("--policy") && outcome.errors.contains("“--”"), "\(outcome)")
        let meant = try world.ambit("run", "--", program, "--policy", "strict")
        #expect(meant.output == "--policy strict\n" && meant.errors.isEmpty, "\(meant)")
        let behind = try world.ambit("run", program, "--", "--policy=strict")
        #expect(behind.output == "-- --policy=strict\n" && behind.errors.isEmpty, "\(behind)")
      }
    }
  }
}
