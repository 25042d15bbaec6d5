/// One entry of the escape catalogue.
package struct Entry: Equatable, Sendable {
  package let id: String
  /// The attempt, in a few words.
  package let title: String
  /// Why the entry has a meaning for Ambit alone; nil: it is asked of every launcher.
  package let onlyAmbit: String?

  private init(_ id: String, _ title: String, onlyAmbit: String? = nil) {
    self.id = id
    self.title = title
    self.onlyAmbit = onlyAmbit
  }

  package var section: Character { id.first ?? "?" }

  /// The entry of an identifier.
  package static func named(_ id: String) -> Entry? { catalogue.first { $0.id == id } }

  private static let grants = "it asks about Ambit's grants"
  private static let picker = "it asks about Ambit's picker"

  /// The catalogue, in its order. Each identifier is a probe of the battery's program or one that is driven from outside.
  package static let catalogue: [Entry] = [
    Entry("A1", "type into the user's terminal (TIOCSTI)"),
    Entry("A3", "paste into the console (TIOCLINUX)"),
    Entry("A4", "use a descriptor that the caller left open"),
    Entry("A5", "leave through a folder that the caller had open"),
    Entry("A7", "read the launcher's environment"),
    Entry("A8", "read the launcher's arguments"),
    Entry("A9", "find the user's secrets in the environment"),

    Entry("B1", "open a file of the user's by its path"),
    Entry("B2", "the same by odd names: .., //, /proc/self/root"),
    Entry("B3", "the same through a link of one's own"),
    Entry("B4", "plant links in the container for the next launch"),
    Entry("B5", "put a link in the container's place"),
    Entry("B6", "swap the container for a link during launches"),
    Entry("B7", "make a hard link to a file outside"),
    Entry("B8", "mount, remount, unmount"),
    Entry("B9", "mount with the new calls"),
    Entry("B11", "make and open device nodes"),
    Entry("B12", "gain rights from a set-uid program"),
    Entry("B14", "change what is shown read-only"),
    Entry("B16", "execute what was written or is in memory"),
    Entry("B17", "open a file by a guessed handle"),
    Entry("B19", "overwrite the launcher's program"),
    Entry("B20", "change one's own policy, manifest, grants", onlyAmbit: "it asks about Ambit's state"),
    Entry("B21", "fill disk and memory with files"),

    Entry("C1", "leave through /proc/PID/root, cwd, fd"),
    Entry("C2", "trace another process"),
    Entry("C3", "read and write another process's memory"),
    Entry("C5", "signal a process of the host"),
    Entry("C6", "see the host's processes"),
    Entry("C8", "read the kernel's memory, change its settings"),
    Entry("C9", "leave a daemon behind"),
    Entry("C10", "survive the launcher's death"),

    Entry("D1", "make a user namespace"),
    Entry("D2", "mount in a user namespace"),
    Entry("D3", "enter other namespaces"),
    Entry("D5", "hold or regain capabilities"),
    Entry("D6", "use control groups' files"),
    Entry("D7", "change the machine: name, clock, modules"),

    Entry("E1", "clone3, which a filter cannot look into"),
    Entry("E3", "call by another architecture's table"),
    Entry("E5", "call through io_uring"),
    Entry("E6", "loosen the filter with one's own"),
    Entry("E7", "change a call after it was checked"),
    Entry("E9", "confuse the observer about paths", onlyAmbit: "it asks about Ambit's observer"),
    Entry("E10", "kill the observer in a call", onlyAmbit: "it asks about Ambit's observer"),
    Entry("E11", "get round the filter with signals"),
    Entry("E12", "change the personality"),

    Entry("F1", "connect to an abstract socket of the host"),
    Entry("F2", "connect to the host's sockets by path"),
    Entry("F3", "connect to a socket in a granted folder"),
    Entry("F5", "reach the network, or odd socket families"),
    Entry("F6", "use the host's shared memory and queues"),
    Entry("F7", "use the kernel's key rings"),
    Entry("F8", "userfaultfd, perf, bpf, memfd_secret"),
    Entry("F9", "forge, borrow and flood at the broker", onlyAmbit: "it asks about Ambit's broker"),

    Entry("G1", "use a document before start and after stop", onlyAmbit: grants),
    Entry("G3", "get out of a granted folder", onlyAmbit: grants),
    Entry("G4", "have more scopes than the limit, or keep them", onlyAmbit: grants),
    Entry("G5", "open anew after the last stop", onlyAmbit: grants),
    Entry("G6", "have a bookmark lead to an impostor", onlyAmbit: grants),
    Entry("G8", "use another app's token and bookmark", onlyAmbit: grants),
    Entry("G9", "be granted the root, the home, Ambit's state", onlyAmbit: grants),
    Entry("G10", "run programs and use devices in a granted folder", onlyAmbit: grants),
    Entry("G11", "save something else than a file of one's own", onlyAmbit: grants),

    Entry("H1", "processes without end"),
    Entry("H2", "memory without end"),
    Entry("H3", "descriptors without end"),
    Entry("H4", "get round a limit on files"),
    Entry("H5", "get round a limit on processor time"),
    Entry("H6", "threads without end"),
    Entry("H8", "leave the dead to process 1"),

    Entry("I1", "be another app, by its identifier or a file's name", onlyAmbit: grants),
    Entry("I2", "have the user pick what the row does not show", onlyAmbit: picker),
    Entry("I3", "leave a set-uid program on the host"),
    Entry("I4", "keep a name of a document that was saved", onlyAmbit: grants),
    Entry("I5", "keep a document's pages in a pipe", onlyAmbit: grants),
    Entry("I6", "misuse standard streams", onlyAmbit: "it asks about Ambit's standard streams"),
    Entry("I7", "watch a document when its scope has ended", onlyAmbit: grants),
    Entry("I8", "pass a document to another launch of the app", onlyAmbit: grants),
    Entry("I9", "learn host paths from the mount table", onlyAmbit: grants),
    Entry("I10", "rename the place that a document is mounted on", onlyAmbit: grants),
    Entry("I11", "spoil the terminal that the picker draws on", onlyAmbit: picker),
    Entry("I12", "stop the host's writers with a lease"),
    Entry("I13", "fill the buffers of sockets, and the log"),
  ]
}
