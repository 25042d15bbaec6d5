import Audit
import Foundation
import TestSupport
import Testing

/// What a sandbox's `/proc` has of the kernel's own.
@Suite(.serialized, .waiting)
struct ProcTests {
  private static let masked = [
    "acpi", "asound", "bus", "cmdline", "driver", "fs", "interrupts", "iomem", "ioports", "irq", "kallsyms", "kcore",
    "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "modules", "mtrr",
    "pagetypeinfo", "sched_debug", "schedstat", "scsi", "slabinfo", "softirqs", "sysrq-trigger", "timer_list",
    "vmallocinfo",
  ]

  /// Opens each for reading, folders as well, and says how that went; tries to open some settings for writing.
  private static let script = """
    import errno, os
    def attempt(name, flags):
      try: os.close(os.open(name, flags | os.O_NONBLOCK)); return "open"
      except OSError as e: return errno.errorcode[e.errno]
    for name in "\(masked.joined(separator: " "))".split(): print(name, attempt("/proc/" + name, os.O_RDONLY))
    for name in ["kernel/core_pattern", "kernel/hostname", "net/ipv4/ip_forward", "kernel/shmmax", "vm/drop_caches"]:
      print("sys/" + name, attempt("/proc/sys/" + name, os.O_WRONLY))
    """

  private func answers(_ outcome: Outcome) -> [String: String] {
    Dictionary(
      outcome.output.split(separator: "\n").map { line in
        let words = line.split(separator: " ")
        return (String(words[0]), String(words.last ?? ""))
      }, uniquingKeysWith: { first, _ in first })
  }

  @Test(arguments: TestUser.all)
  func `C8: of the kernel's own nothing can be opened, and no setting can be written`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let outside = answers(try world.run(["/usr/bin/python3", "-I", "-c", Self.script]))
      let inside = answers(try world.ambit("run", "/usr/bin/python3", "-I", "-c", Self.script))
      #expect(inside.count == Self.masked.count + 5)
      for (name, answer) in inside {
        let isThere = outside[name] != "ENOENT"
        let expected = name.hasPrefix("sys/") ? ["EROFS", "EACCES", "EPERM"] : ["EACCES"]
        #expect(
          isThere ? expected.contains(answer) : answer == "ENOENT", "\(name) \(answer), outside \(outside[name] ?? "?")"
        )
      }
      // The control: out here some of them can be.
      #expect(["keys", "kallsyms", "interrupts", "bus"].contains { outside[$0] == "open" }, "\(outside)")
    }
  }

  /// Root of a user namespace goes an ordinary user's way, and to the kernel its apps are the host's root: what is open to that
  /// one alone is closed to them by what lies over it.
  @Test(arguments: TestUser.all.filter { $0 == .root })
  func `C8: nor by an app that is the host's root to the kernel`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let enter = ["/usr/bin/unshare", "--user", "--map-root-user", "--mount", "--"]
      let python = ["/usr/bin/python3", "-I", "-c", Self.script]
      let outside = answers(try world.run(enter + python))
      // The control: without a sandbox this one may write what has the kernel run programs, and that as the host's root.
      #expect(outside["sys/kernel/core_pattern"] == "open", "\(outside)")
      let outcome = try world.run(enter + [try Products.path("ambit"), "run"] + python)
      let inside = answers(outcome)
      #expect(inside.count == Self.masked.count + 5, "\(outcome)")
      for (name, answer) in inside {
        let expected =
          outside[name] == "ENOENT" ? ["ENOENT"] : name.hasPrefix("sys/") ? ["EROFS", "EPERM"] : ["EACCES"]
        #expect(expected.contains(answer), "\(name) \(answer), outside \(outside[name] ?? "?")")
      }
      _ = try? world.run(enter + [try Products.path("ambit"), "broker", "stop"])
    }
  }

  @Test(arguments: TestUser.all)
  func `what programs read of the machine and set of themselves stays`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let script = """
        for f in cpuinfo meminfo stat uptime loadavg version filesystems mounts vmstat cgroups self/status \
          sys/kernel/osrelease sys/vm/overcommit_memory sys/kernel/random/boot_id net/dev; do
          head -c 1 /proc/$f >/dev/null || echo "no $f"; done
        echo 100 >/proc/self/oom_score_adj && cat /proc/self/oom_score_adj
        echo mine >/proc/self/comm && ls /proc/1 >/dev/null && echo done
        """
      let outcome = try world.ambit("run", "/bin/sh", "-c", script)
      #expect(outcome.output == "100\ndone\n", "\(outcome)")
    }
  }

  @Test(arguments: TestUser.one(.ordinary))
  func `ambit plan and ambit why say what is hidden, and an observed app is told why`(user: TestUser) throws {
    try Workspace.with(user) { world in
      let plan = try world.ambit("plan", "/bin/sh")
      #expect(plan.output.contains("key-users, keys") && plan.output.contains("hidden"), "\(plan)")
      let why = try world.ambit("why", "/bin/sh", "read", "/proc/keys")
      #expect(why.exit == .status(1) && why.output.contains("it is the kernel's own, and hidden"), "\(why)")
      #expect(try world.ambit("why", "/bin/sh", "read", "/proc/cpuinfo").exit == .status(0))
      #expect(try world.ambit("why", "/bin/sh", "write", "/proc/sys/kernel/core_pattern").exit == .status(1))
      _ = try world.ambit(
        "run", "--policy", "observed", "/bin/sh", "-c", "cat /proc/keys; ls /proc/fs; cat /proc/cpuinfo")
      let seen = try world.audit(.refuse).filter { $0.rule == "proc" }.compactMap { $0.detail["operation"] }
      #expect(seen == ["read /proc/keys", "read /proc/fs"])
    }
  }
}
