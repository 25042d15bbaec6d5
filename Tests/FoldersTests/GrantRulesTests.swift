import TestSupport
import Testing

@testable import Folders

@Suite struct `What may be granted` {
  let rules = GrantRules(
    home: "/home/user",
    own: [
      "/home/user/.local/share/ambit", "/home/user/.local/state/ambit", "/run/user/1000/ambit",
      "/home/user/.config/ambit",
    ])

  @Test(
    arguments: [
      "/home/user/letter.txt", "/home/user/Documents/letter.txt", "/home/user/.ssh-notes.txt", "/srv/share/plan.txt",
      "/home/user2/letter.txt", "/tmp/letter.txt", "/mnt/usb/letter.txt", "/media/user/stick/letter.txt",
      "/run/media/user/stick/letter.txt",
      "/usrlocal/letter.txt", "/etcetera", "/home/user/.local/share/ambition/x", "/var/libraries/x",
      "/home/user/etc/passwd",
    ])
  func `a document in an ordinary place may`(path: String) {
    #expect(rules.refusal(of: .file, at: path) == nil)
  }

  @Test(
    arguments: [
      "/home/user/Documents", "/home/user/.sshx", "/home/user/.configuration", "/home/user2", "/home/user/etc",
      "/home/user/home/user", "/srv", "/srv/share", "/mnt/usb", "/media/user/stick", "/run/media/user/stick",
      "/tmp/scratch", "/var/libx",
      "/home/user/.local/share/ambition", "/home/user/.mozillas", "/data",
    ])
  func `a folder in an ordinary place may`(path: String) {
    #expect(rules.refusal(of: .folder, at: path) == nil)
  }

  @Test(
    "SBX-15: a folder that is too much may not",
    arguments: [
      ("/", "whole file system"), ("/home/user", "choose a folder in it"), ("/home", "Ambit's own files"),
      // Parents of Ambit's own folders.
      ("/home/user/.local", "Ambit's own files"), ("/home/user/.local/share", "Ambit's own files"),
      ("/home/user/.local/state", "Ambit's own files"), ("/home/user/.config", "Ambit's own files"),
      ("/run/user/1000", "Ambit's own files"), ("/run", "Ambit's own files"),
      // Ambit's own folders and what lies in them.
      ("/home/user/.local/share/ambit", "belongs to Ambit"),
      ("/home/user/.local/share/ambit/containers/io.x/Documents", "belongs to Ambit"),
      ("/home/user/.local/state/ambit/filters", "belongs to Ambit"), ("/run/user/1000/ambit", "belongs to Ambit"),
      // Secrets.
      ("/home/user/.ssh", "keys"), ("/home/user/.ssh/keys", "keys"), ("/home/user/.gnupg", "keys"),
      ("/home/user/.config/other", "keys"), ("/home/user/.mozilla/firefox", "keys"), ("/home/user/.aws", "keys"),
      ("/home/user/.kube", "keys"), ("/home/user/.local/share/keyrings", "keys"),
      // The system, and what holds some of it.
      ("/etc", "system"), ("/etc/ssl", "system"), ("/usr", "system"), ("/usr/share/doc", "system"),
      ("/proc", "system"), ("/proc/self/fd", "system"), ("/sys/kernel", "system"), ("/dev", "system"),
      ("/dev/shm/x", "system"), ("/var/lib/dpkg", "system"), ("/boot", "system"), ("/lib/x", "system"),
      ("/var", "system"),
    ])
  func folderThatIsTooMuch(path: String, words: String) throws {
    let reason = try #require(rules.refusal(of: .folder, at: path), "\(path) was not refused")
    #expect(reason.contains(words), "\(path): \(reason)")
  }

  @Test(
    "SBX-15: a file of Ambit's or of the system's may not",
    arguments: [
      ("/home/user/.local/state/ambit/sealing.key", "belongs to Ambit"),
      ("/home/user/.local/state/ambit/audit.sqlite", "belongs to Ambit"),
      ("/home/user/.local/share/ambit/containers/io.x/Documents/letter.txt", "belongs to Ambit"),
      ("/home/user/.config/ambit/policies/mine.toml", "belongs to Ambit"),
      ("/etc/passwd", "system"), ("/etc/shadow", "system"), ("/proc/self/environ", "system"),
      ("/sys/power/state", "system"), ("/dev/sda", "system"), ("/usr/bin/env", "system"),
      ("/run/user/1000/bus", "system"), ("/var/lib/x", "system"),
    ])
  func fileThatMayNot(path: String, words: String) throws {
    let reason = try #require(rules.refusal(of: .file, at: path), "\(path) was not refused")
    #expect(reason.contains(words), "\(path): \(reason)")
  }

  @Test(
    "SBX-15: a single file in a sensitive place may not",
    arguments: [
      "/home/user/.ssh/id_rsa", "/home/user/.ssh/config", "/home/user/.gnupg/private-keys-v1.d/key",
      "/home/user/.config/gh/hosts.yml", "/home/user/.local/share/keyrings/login.keyring",
      "/home/user/.mozilla/firefox/x/logins.json", "/home/user/.aws/credentials", "/home/user/.kube/config",
      "/home/user/.docker/config.json", "/home/user/.netrc", "/home/user/.pgpass", "/home/user/.git-credentials",
      "/home/user/.password-store/bank.gpg",
    ])
  func secretFile(path: String) throws {
    for kind in [DocumentKind.file, .package, .folder] {
      let reason = try #require(rules.refusal(of: kind, at: path), "\(path) was not refused")
      #expect(reason.contains("keys and settings of other programs"), "\(path): \(reason)")
    }
  }

  @Test func `SBX-15: what links in the home folder make of a sensitive place is one as well`() {
    let rules = GrantRules(
      home: "/home/user", own: [], sensitive: ["/home/user/dotfiles/ssh", "/home", "/home/user", "/"])
    #expect(rules.refusal(of: .file, at: "/home/user/dotfiles/ssh/id_rsa") != nil)
    #expect(rules.refusal(of: .folder, at: "/home/user/dotfiles") != nil)
    #expect(rules.refusal(of: .file, at: "/home/user/dotfiles/vimrc") == nil)
    #expect(rules.refusal(of: .file, at: "/home/user/.ssh/id_rsa") != nil)
    // A link to the home folder, or around it, makes nothing else sensitive.
    #expect(rules.refusal(of: .file, at: "/home/user/letter.txt") == nil)
  }

  @Test(arguments: [DocumentKind.file, .folder])
  func `a document without a place may not`(kind: DocumentKind) {
    #expect(rules.refusal(of: kind, at: nil) != nil)
  }

  @Test func `parents of a home folder that holds nothing of Ambit's may not either`() {
    let rules = GrantRules(home: "/srv/people/ann", own: ["/opt/ambit"])
    #expect(rules.refusal(of: .folder, at: "/srv/people/ann")?.contains("whole home folder") == true)
    #expect(rules.refusal(of: .folder, at: "/srv/people")?.contains("whole home folder") == true)
    #expect(rules.refusal(of: .folder, at: "/srv")?.contains("whole home folder") == true)
    #expect(rules.refusal(of: .folder, at: "/srv/people/anna") == nil)
    #expect(rules.refusal(of: .folder, at: "/srv/people/an") == nil)
    #expect(rules.refusal(of: .folder, at: "/opt")?.contains("Ambit's own") == true)
    #expect(rules.refusal(of: .folder, at: "/opt/ambit2") == nil)
  }

  @Test func `secrets are refused where the home folder is the root of the file system`() {
    let rules = GrantRules(home: "/", own: ["/.local/state/ambit"])
    #expect(rules.refusal(of: .folder, at: "/.ssh")?.contains("keys") == true)
    #expect(rules.refusal(of: .folder, at: "/srv") == nil)
  }

  /// Whatever the folder: with it an app must not get Ambit's files, the home folder or a secret.
  @Test func `SBX-15: no folder above or in what is protected is ever granted`() {
    let protected = rules.own + ["/home/user/.ssh", "/home/user/.local/share/keyrings", "/etc", "/usr", "/var/lib"]
    var generator = Seeded(seed: 15)
    for _ in 0..<5_000 {
      let folder = protected.randomElement(using: &generator) ?? "/etc"
      let parts = folder.split(separator: "/")
      let above = "/" + parts.prefix(Int.random(in: 0...parts.count, using: &generator)).joined(separator: "/")
      let within = folder + (0..<Int.random(in: 0...3, using: &generator)).map { "/d\($0)" }.joined()
      for path in [above, within] {
        #expect(rules.refusal(of: .folder, at: path) != nil, "\(path)")
      }
    }
  }
}
