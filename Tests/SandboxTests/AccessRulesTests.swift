import Kernel
import TestSupport
import Testing

@testable import Sandbox

@Suite struct `What an app may do where, by its plan` {
  private func rules(network: NetworkReach = .none, shown: [String] = []) -> AccessRules {
    AccessRules(
      SandboxPlan(
        SandboxRequest(
          program: .bundle(path: "/home/ann/Ed.app", executable: "Ed"), bundleIdentifier: "io.ambit.tests",
          container: "/c", readOnlyPaths: shown, network: network), on: Layouts.merged))
  }

  @Test(arguments: [
    "/srv/x", "/home/ann", "/home/ann/x", "/root", "/opt/x/y", "/mnt", "/homes", "/home/user2/x", "/usrlocal",
  ])
  func `SBX-2: what the sandbox does not have is out of reach, for every operation`(path: String) {
    for operation in AccessOperation.allCases {
      let denial = rules().denial(of: operation, at: path, .missing)
      #expect(denial?.rule == "SBX-2" && denial?.code == .notPermitted, "\(operation)")
    }
  }

  @Test(arguments: ["/home/user/x", "/home/user", "/tmp/x", "/dev/shm/x"])
  func `SBX-1: in its own folders nothing stands in the way`(path: String) {
    for operation in AccessOperation.allCases {
      #expect(rules().denial(of: operation, at: path, .missing) == nil, "\(operation)")
      #expect(rules().denial(of: operation, at: path, .present) == nil, "\(operation)")
    }
  }

  @Test func `SBX-2: who asks beforehand hears that a file of the system's is not shown, and what is the app's own`() {
    for path in ["/etc/shadow", "/etc/ssh/key", "/srv/x", "/home/ann/x", "/var/log/messages"] {
      #expect(rules().absence(of: path)?.rule == "SBX-2", "\(path)")
    }
    for path in ["/", "/etc", "/etc/passwd", "/home", "/home/user/x", "/tmp/x", "/usr/bin/x", "/proc/self"] {
      #expect(rules().absence(of: path) == nil, "\(path)")
    }
    #expect(rules().isMachines("/usr/bin/x") && rules(shown: ["/srv/shown"]).isMachines("/srv/shown/x"))
    for path in ["/home/user/x", "/tmp/x", "/etc/passwd"] { #expect(!rules().isMachines(path), "\(path)") }
  }

  @Test(arguments: ["/usr/bin/x", "/etc/passwd", "/Applications/Ed.app/Ed", "/etc/new", "/", "/home", "/var/x"])
  func `the system and the app itself can be read and not changed`(path: String) {
    for presence in [AccessRules.Presence.present, .missing] {
      #expect(rules().denial(of: .read, at: path, presence) == nil)
      for operation in [AccessOperation.write, .create] {
        #expect(rules().denial(of: operation, at: path, presence)?.rule == "SBX-1")
      }
    }
  }

  @Test func `TOK-1: a placeholder is a scope that is not started`() {
    for operation in AccessOperation.allCases where operation != .connect {
      #expect(rules().denial(of: operation, at: "/documents/g/a", .placeholder)?.rule == "TOK-1")
    }
    #expect(rules().denial(of: .write, at: "/documents/g/a", .present) == nil)
    #expect(rules().denial(of: .read, at: "/documents/g/b", .missing) == nil)
    #expect(rules().denial(of: .create, at: "/documents/g/b", .missing)?.rule == "SBX-1")
  }

  @Test func `a folder that the policy shows is not out of reach any more`() {
    #expect(rules().denial(of: .read, at: "/srv/data/x", .missing)?.rule == "SBX-2")
    #expect(rules(shown: ["/srv/data"]).denial(of: .read, at: "/srv/data/x", .missing) == nil)
    #expect(rules(shown: ["/srv/data"]).denial(of: .read, at: "/srv", .present) == nil)
    #expect(rules(shown: ["/srv/data"]).denial(of: .create, at: "/srv/data/x", .missing)?.rule == "SBX-1")
    #expect(rules(shown: ["/srv/data"]).denial(of: .read, at: "/srv/other", .missing)?.rule == "SBX-2")
  }

  @Test func `F3: only sockets of the sandbox's own and the broker's can be connected to`() {
    let shown = rules(shown: ["/srv/data", "/tmp/shown"])
    for path in ["/home/user/x", "/tmp/x", "/dev/shm/x", "/run/ambit/broker", "/proc/x", "/"] {
      #expect(shown.denial(of: .connect, at: path, .present) == nil, "\(path)")
    }
    for path in ["/documents/g/a/x", "/usr/x", "/srv/data/x", "/tmp/shown/x", "/Applications/Ed.app/x", "/dev/null"] {
      let denial = shown.denial(of: .connect, at: path, .present)
      #expect(denial?.rule == "sockets" && denial?.code == .notPermitted, "\(path)")
      // What is not there, the kernel says by itself.
      #expect(shown.denial(of: .connect, at: path, .missing) == nil, "\(path)")
    }
    // Whether its scope is started makes no difference.
    #expect(shown.denial(of: .connect, at: "/documents/g/a/x", .placeholder)?.rule == "sockets")
    #expect(shown.ownPlaces == ["/", "/dev/shm", "/tmp", "/home/user"])
  }

  @Test func `F1: abstract names are one's own only in a network of one's own`() {
    #expect(rules().denialOfAbstractSockets == nil)
    #expect(rules(network: .host).denialOfAbstractSockets?.rule == "sockets")
    #expect(rules().denialOfInternet?.code == .familyNotSupported)
    #expect(rules(network: .host).denialOfInternet == nil)
    #expect(
      rules(network: .loopback).denialOfAbstractSockets == nil && rules(network: .loopback).denialOfInternet == nil)
    #expect(AccessRules.datagrams.code == .typeNotSupported)
  }

  @Test func `sockets: the network's own families are a matter of policy, others of the filter`() {
    for family in ["AF_INET", "AF_INET6"] {
      #expect(rules().denial(ofSocketFamily: family).rule == "network")
      #expect(rules().denial(ofSocketFamily: family).remedy.contains("network.client"))
    }
    #expect(rules().denial(ofSocketFamily: "AF_NETLINK").rule == "seccomp")
    #expect(rules(network: .host).denial(ofSocketFamily: "AF_NETLINK").code == .familyNotSupported)
  }
}
