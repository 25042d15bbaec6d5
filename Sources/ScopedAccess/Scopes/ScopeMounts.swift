package import Folders
package import Kernel
internal import SystemPackage

#if AMBIT_MUTANTS
  internal import Paths
#endif

/// The granted documents of one app instance as the kernel shows them: placeholders that no process inside can open, and over them,
/// while a scope is active, the documents themselves.
///
/// Used from one thread only, which must have its own file-system state (``Kernel/Namespaces``): for the moment of a
/// mount it visits the instance's mount namespace.
package final class ScopeMounts {
  private let home: Descriptor
  private let instance: Descriptor
  /// The writable side of the instance's `/documents`.
  let documents: Descriptor
  /// The app's host id where it is not the broker's own: files that are made for it must belong to it.
  let hostID: UInt32?
  /// Programs in a shown document can be run (`SBX-8`). Files that the app makes beside a document never can.
  private let executes: Bool
  /// `/proc` as the thread has it at home: it tells of the thread wherever that is. Opened when the first of all is made,
  /// which is at home.
  private static let homeProcesses = try? Descriptor.open("/proc", flags: [.path, .directory])
  private let processes: Descriptor?
  struct Shown {
    /// There is a folder of the app's own around the document.
    let isStaged: Bool
    let isFolder: Bool
    /// The entries in it may be mounts.
    let isRecursive: Bool
    /// In a folder of the app's own the mount need not be found under its name: the kernel keeps the app from renaming a mount
    /// point, but not another launch that was sent the open folder.
    var place: Place
    /// Under other names, where it is shown as well.
    var others: [Place]
    var method: AccessMethod
  }
  struct Place {
    let name: String
    /// As ``Kernel/Descriptor/mount`` has it.
    var mount: UInt64
  }
  private(set) var shown: [String: Shown] = [:]
  /// The mounts of files beside shown documents, by grant and name.
  var related: [String: [String: UInt64]] = [:]
  /// Whether there are places to leave to (``leave(_:_:name:)``).
  private var hasPlaces = false
  /// While the mounts at one of them are unmounted, documents leave by the other.
  private var exits = [Exit(), Exit()]
  private var current = 0
  private var departure: (exit: Int, work: Departure, due: Int64)?
  private struct Exit {
    var waiting = UnmountQueue()
    /// There is a mount of its own over it.
    var isOpen = false
  }
  /// Id-mapped views, by owner and group on disk.
  private var identities: [UInt64: IdentityMap] = [:]

  package init(home: Descriptor, instance: Descriptor, documents: Descriptor, hostID: UInt32?, executes: Bool) {
    self.home = home
    self.instance = instance
    self.documents = documents
    self.hostID = hostID
    self.executes = executes
    processes = Self.homeProcesses
  }

  /// The path inside of the app's container.
  package static let home = "/home/user"

  /// The path inside at which a grant's document appears.
  package static func path(grant: String, name: String) -> String { "/documents/\(grant)/\(name)" }

  /// Makes the place where the document will appear. Until then it is there and cannot be opened, so that an access
  /// before start is a permission error and not "no such file" (`TOK-1`).
  package func prepare(grant: String, name: String, kind: DocumentKind) throws(KernelError) {
    let documents = documents
    try withFileSystemIdentity(hostID) { () throws(KernelError) in
      try tolerateExisting { () throws(KernelError) in try documents.makeDirectory(grant, mode: 0o755) }
      let folder = try Descriptor.open(grant, below: documents, flags: [.path, .directory, .noFollow])
      try tolerateExisting { () throws(KernelError) in
        switch kind {
        // Created with no permission at all: the mode counts from the next open on.
        case .file: _ = try Descriptor.open(name, below: folder, flags: [.create, .exclusive, .noFollow], mode: 0)
        case .folder, .package: try folder.makeDirectory(name, mode: 0)
        }
      }
    }
  }

  private func tolerateExisting(_ body: () throws(KernelError) -> Void) throws(KernelError) {
    do throws(KernelError) { try body() } catch { if error.errno != .fileExists { throw error } }
  }

  /// Shows a document at its place. The mount's denials are set before it can be seen.
  ///
  /// - Parameters:
  ///   - others: names under which it is shown as well, where their places are still there.
  ///   - staging: a folder of the app's own, with a place for the document in it, that it sees the document in; `nil`: it sees the
  ///     document alone.
  /// - Returns: `nil`. Mounts, if the app has renamed a place at that moment: the document stood under another name, and was taken
  ///   away again at once. The app may have opened it there.
  package func show(
    _ document: FoundDocument, grant: String, name: String, also others: [String] = [], rights: AccessRights,
    in staging: Descriptor?
  ) throws(KernelError) -> BusyMount? {
    let path = Self.path(grant: grant, name: name)
    var views: [(tree: DetachedTree, place: Place)] = []
    let (first, method) = try view(of: document, at: path, rights)
    views.append((first, Place(name: name, mount: try Self.number(of: first, path))))
    for other in others {
      let tree = try view(of: document, at: path, rights).tree
      views.append((tree, Place(name: other, mount: try Self.number(of: tree, path))))
    }
    var around: DetachedTree?
    if let staging {
      let folder = try DetachedTree(cloning: staging, recursive: false, path: path)
      try folder.restrict(.data, recursive: false)
      around = folder
    }
    #if AMBIT_MUTANTS
      if Mutant.siblingsShown.isActive, staging != nil, let parent = document.path?.parentPath {
        let folder = try Descriptor.open(parent, flags: [.path, .directory])
        around = try DetachedTree(cloning: folder, recursive: false, path: path)
      }
    #endif
    var present: [Place] = []
    let isMisplaced = try visit { () throws(KernelError) -> Bool in
      let folder = Self.folder(of: grant)
      if let around { try around.move(onto: folder) }
      for (tree, place) in views {
        do throws(KernelError) {
          if let around {
            try tree.move(onto: place.name, in: around.descriptor)
          } else {
            try tree.move(onto: Self.path(grant: grant, name: place.name))
          }
        } catch {
          // An app may have removed the place of an earlier name from the folder of its own.
          if !present.isEmpty { continue }
          if around != nil { try Mounts.detach(folder) }
          throw error
        }
        present.append(place)
        // From here on the name is that of a mount, and the kernel refuses to rename it.
        guard let around, Mounts.number(of: place.name, in: around.descriptor) != place.mount else { continue }
        try Mounts.detach(folder)
        return true
      }
      return false
    }
    let shown = Shown(
      isStaged: around != nil, isFolder: document.kind == .folder, isRecursive: isRecursive(document),
      place: present[0], others: Array(present.dropFirst()), method: method)
    if isMisplaced {
      return shown.others.reduce(BusyMount(number: shown.place.mount)) {
        $0.joined(with: BusyMount(number: $1.mount))
      }
    }
    self.shown[grant] = shown
    return nil
  }

  static func number(of tree: DetachedTree, _ path: String) throws(KernelError) -> UInt64 {
    guard let number = tree.descriptor.mount else { throw KernelError("statx", path, errno: .noFunction) }
    return number
  }

  /// Below a folder there may be mounts that an unprivileged broker cannot leave out without showing the files that they hide.
  private func isRecursive(_ document: FoundDocument) -> Bool { document.kind == .folder && hostID == nil }

  static func folder(of grant: String) -> String { "/documents/\(grant)" }

  func view(
    of document: FoundDocument, at path: String, _ rights: AccessRights
  ) throws(KernelError) -> (tree: DetachedTree, method: AccessMethod) {
    let recursive = isRecursive(document)
    let tree = try DetachedTree(cloning: document.descriptor, recursive: recursive, path: document.path ?? path)
    var attributes: MountAttributes = executes ? .plain : .data
    if rights == .readOnly { attributes.insert(.readOnly) }
    #if AMBIT_MUTANTS
      if Mutant.pickedProgramsRun.isActive { attributes.remove(.noExecute) }
      if Mutant.readOnlyIgnored.isActive { attributes.remove(.readOnly) }
    #endif
    var facts = AccessMethod.Facts(hasOwnID: hostID != nil, isMappable: false, isAdmitted: false)
    if let identity = try identity(for: document) {
      facts.isMappable = try tree.map(identity, with: attributes, recursive: recursive)
    }
    guard !facts.isMappable else { return (tree, AccessMethod(facts)) }
    try tree.restrict(attributes, recursive: recursive)
    if let hostID {
      facts.isAdmitted = document.descriptor.admits(
        hostID, AccessMethod.needed(isFolder: document.kind.isFolder, rights))
    }
    return (tree, AccessMethod(facts))
  }

  /// Shows another file in the place of the one that is shown: each opening of the path gets the one or the other.
  package func replace(
    by document: FoundDocument, grant: String, name: String, rights: AccessRights
  ) throws(KernelError) {
    let path = Self.path(grant: grant, name: name)
    guard let known = shown[grant] else { throw KernelError("move_mount", path, errno: .resourceBusy) }
    // Under all of its names, the one of new URLs last: only its failure is one of the whole.
    for (index, place) in known.others.enumerated() {
      let new = try? replace(place, by: document, of: grant, rights, known)
      if let new { shown[grant]?.others[index].mount = new.number }
    }
    let new = try replace(known.place, by: document, of: grant, rights, known)
    shown[grant]?.place.mount = new.number
    shown[grant]?.method = new.method
    guard new.isInPlace else { throw KernelError("move_mount", path, errno: .resourceBusy) }
  }

  /// - Returns: the new mount's number, and whether it stands under the name: where a process has renamed the place meanwhile,
  ///   nothing of either file stays in the folder.
  private func replace(
    _ place: Place, by document: FoundDocument, of grant: String, _ rights: AccessRights, _ known: Shown
  ) throws(KernelError) -> (number: UInt64, isInPlace: Bool, method: AccessMethod) {
    let path = Self.path(grant: grant, name: place.name)
    let (tree, method) = try view(of: document, at: path, rights)
    let number = try Self.number(of: tree, path)
    let isInPlace = try visit { () throws(KernelError) -> Bool in
      let top = try Descriptor.open(path, flags: [.path, .noFollow], resolve: .noSymlinks)
      guard top.mount == place.mount else { throw KernelError("move_mount", path, errno: .resourceBusy) }
      do throws(KernelError) {
        try tree.move(beneath: top, path: path)
        try Mounts.detach(path)
      } catch {
        guard error.errno == .invalidArgument else { throw error }
        // Before Linux 6.5 there is a moment without.
        try Mounts.detach(path)
        try tree.move(onto: path)
      }
      if Mounts.number(of: path) == number { return true }
      try Mounts.detach(known.isStaged ? Self.folder(of: grant) : path)
      return false
    }
    return (number, isInPlace, method)
  }

  /// Takes a document away: new opens fail from here on (`TOK-3`).
  ///
  /// A document that the app has not open waits at the exit, where no process comes, to be unmounted with others (``emptyExit()``).
  /// One that is in use becomes read-only: a process that stands in a folder, or has it open, can still read its content.
  ///
  /// - Parameter atOnce: it waits for nothing.
  /// - Returns: the mount, if the app still has something of it open (`TOK-16`), or others lie in it. The kernel says so by itself.
  @discardableResult
  package func hide(grant: String, name: String, atOnce: Bool = false) throws(KernelError) -> BusyMount? {
    guard let known = shown.removeValue(forKey: grant) else {
      return try visit { () throws(KernelError) in
        try detach(Self.path(grant: grant, name: name), isRecursive: hostID == nil)
      }
    }
    // Without places there is no way out.
    try? makePlaces()
    return try visit { () throws(KernelError) -> BusyMount? in
      var others: BusyMount?
      for other in known.others {
        let path = Self.path(grant: grant, name: other.name)
        // One that is not under its name goes with the folder around it, and counts as held.
        let isThere = Mounts.number(of: path) == other.mount
        let held = isThere ? try detach(path, isRecursive: known.isRecursive) : BusyMount(number: other.mount)
        others = held?.joined(with: others) ?? others
      }
      guard let held = try leave(known, grant, name: name) else {
        // There is no way out: where it is, then.
        let held =
          known.isStaged
          ? try detach(Self.folder(of: grant), with: Self.path(grant: grant, name: name), known)
          : try detach(Self.path(grant: grant, name: name), isRecursive: known.isRecursive)
        return held?.joined(with: others) ?? others
      }
      if atOnce || held.isHeld { try detachExit(current) }
      return held.mount?.joined(with: others) ?? others
    }
  }

  /// When ``beginEmptying()`` should be called, in nanoseconds of CLOCK_MONOTONIC; `nil`: nothing waits.
  package var exitDue: Int64? {
    var due = departure?.due
    for number in exits.indices where number != departure?.exit {
      if let next = exits[number].waiting.due { due = min(due ?? next, next) }
    }
    return due
  }

  /// Nanoseconds after which it is looked whether the mounts that another thread unmounts are gone.
  private static let look: Int64 = 10_000_000

  /// Has the mounts at the exit unmounted, by another thread: the next request does not wait for it.
  package func beginEmptying() throws(KernelError) {
    let now = Clock.monotonic()
    if let departure, !departure.work.isOver {
      self.departure?.due = now + Self.look
      exits[current].waiting.retry(at: now + UnmountQueue.patience)
      return
    }
    try finishDeparture()
    guard exits.contains(where: { $0.waiting.waiting > 0 }) else { return }
    if exits[1 - current].isOpen || !depart() { try emptyExit() }
  }

  /// Unmounts the mounts at the exit.
  package func emptyExit() throws(KernelError) {
    try finishDeparture()
    guard exits.contains(where: { $0.waiting.waiting > 0 }) else { return }
    do throws(KernelError) {
      try visit { () throws(KernelError) in
        for number in exits.indices where exits[number].isOpen { try detachExit(number) }
      }
    } catch {
      for number in exits.indices { exits[number].waiting.retry(at: Clock.monotonic() + 1_000_000_000) }
      throw error
    }
  }

  private func detachExit(_ number: Int) throws(KernelError) {
    try Mounts.detach(Self.exit(number))
    close(number)
  }

  private func close(_ number: Int) {
    exits[number].waiting.empty()
    exits[number].isOpen = false
  }

  /// - Returns: whether another thread does it, and the other exit, which must be empty, is the current one now.
  private func depart() -> Bool {
    guard let work = UnmountWorker.shared.begin(Self.exit(current), in: instance, home: home) else { return false }
    departure = (current, work, Clock.monotonic() + Self.look)
    current = 1 - current
    return true
  }

  /// Waits for the unmounting of another thread.
  private func finishDeparture() throws(KernelError) {
    guard let (number, work, _) = departure else { return }
    departure = nil
    do throws(KernelError) { try work.finish() } catch {
      exits[number].waiting.retry(at: Clock.monotonic() + 1_000_000_000)
      throw error
    }
    close(number)
  }

  /// - Returns: the mount, if a process has something of it open.
  func detach(_ path: String, isRecursive: Bool) throws(KernelError) -> BusyMount? {
    if try Mounts.detachIdle(path) { return nil }
    let held = busyMount(at: path, isRecursive)
    try Mounts.detach(path)
    return held
  }

  private func detach(
    _ folder: String, with document: String, _ known: Shown
  ) throws(KernelError) -> BusyMount? {
    // With any content, the folder goes with all mounts in it. Where the question cannot be answered, it counts as in use.
    let isThere = Mounts.number(of: document) == known.place.mount
    var held: BusyMount?
    if !isThere {
      held = BusyMount(number: known.place.mount)
    } else if (try? Mounts.isInUse(document)) != false {
      held = busyMount(at: document, known.isRecursive)
    }
    try Mounts.detach(folder)
    return held
  }

  /// Moves a document, and the folder around it, to a place where no process comes. The document first, and by itself: a process
  /// that has the folder open finds an empty place in it from then on. Moved before the question for its users, so that nothing of
  /// it is opened between the question and the end.
  ///
  /// - Returns: the mount that is in use, and whether any of the two is in use: then they must not wait, since `..` leads to the
  ///   exit from a folder in which a process stands. `nil`: nothing was moved.
  private func leave(
    _ known: Shown, _ grant: String, name: String
  ) throws(KernelError) -> (mount: BusyMount?, isHeld: Bool)? {
    if exits[current].waiting.isFull {
      // The other thread may unmount a file system that does not answer, and the loop does not wait for that.
      if let departure, !departure.work.isOver { return nil }
      try? finishDeparture()
      // One that another thread could not unmount.
      if exits[1 - current].isOpen { try detachExit(1 - current) }
      if !depart() { try detachExit(current) }
    }
    guard exits[current].isOpen || openExit(current),
      let number = exits[current].waiting.enter(now: Clock.monotonic())
    else { return nil }
    let exit = Self.exit(current)
    let place = "\(exit)/\(known.isFolder ? "folder" : "file")-\(number)"
    guard (try? Mounts.move(Self.path(grant: grant, name: name), onto: place)) != nil else { return nil }
    let held = (try? Mounts.isInUse(place)) == false ? nil : busyMount(at: place, known.isRecursive)
    guard known.isStaged else { return (held, held != nil) }
    let (folder, other) = (Self.folder(of: grant), "\(exit)/folder-\(number)")
    guard (try? Mounts.move(folder, onto: other)) != nil else {
      try Mounts.detach(folder)
      return (held, held != nil)
    }
    return (held, held != nil || (try? Mounts.isInUse(other)) != false)
  }

  /// Makes a mount in use read-only. The mounts in it are looked up now: when it is gone, so are they. Where this
  /// cannot be told, it counts as open.
  private func busyMount(at path: String, _ isRecursive: Bool) -> BusyMount {
    let number = (try? Descriptor.open(path, flags: [.path, .noFollow], resolve: .noSymlinks).mount) ?? 0
    let inner = isRecursive ? processes.flatMap { try? MountTable.inner(of: number, below: $0) } : nil
    return BusyMount(number: number, inner: inner ?? [], isReadOnly: Mounts.makeReadOnly(path))
  }

  /// No process inside comes through this folder: it permits nothing to any process, and is shown read-only.
  private static let leaving = ".leaving"
  private static let names = ["now", "next"]
  private static let paths = names.map { "/documents/\(leaving)/\($0)" }
  private static func exit(_ number: Int) -> String { paths[number] }

  /// A mount of its own over the exit: mounts that are moved into it go with it.
  private func openExit(_ number: Int) -> Bool {
    let exit = Self.exit(number)
    do throws(KernelError) {
      let here = try Descriptor.open(exit, flags: [.path, .directory], resolve: .noSymlinks)
      let tree = try DetachedTree(cloning: here, recursive: false, path: exit)
      try tree.restrict([.readOnly, .noSetuid, .noDevices, .noExecute], recursive: false)
      try tree.move(onto: here, path: exit)
      exits[number].isOpen = true
    } catch {
      return false
    }
    return true
  }

  private func makePlaces() throws(KernelError) {
    if hasPlaces { return }
    let documents = documents
    try withFileSystemIdentity(hostID) { () throws(KernelError) in
      try tolerateExisting { () throws(KernelError) in try documents.makeDirectory(Self.leaving, mode: 0o700) }
      // One that was finished cannot be opened any more, where the broker's privilege does not come along.
      let exits = try? Descriptor.open(Self.leaving, below: documents, flags: [.read, .directory, .noFollow])
      guard let exits else { return }
      for name in Self.names {
        try tolerateExisting { () throws(KernelError) in try exits.makeDirectory(name, mode: 0o700) }
        guard let exit = try? Descriptor.open(name, below: exits, flags: [.read, .directory, .noFollow]) else {
          continue
        }
        for number in 0..<UnmountQueue.places {
          try tolerateExisting { () throws(KernelError) in try exit.makeDirectory("folder-\(number)", mode: 0) }
          try tolerateExisting { () throws(KernelError) in
            _ = try Descriptor.open("file-\(number)", below: exit, flags: [.create, .exclusive, .noFollow], mode: 0)
          }
        }
        try exit.changeMode(0)
      }
      try exits.changeMode(0)
    }
    hasPlaces = true
  }

  /// The app's way to the shown document of a grant; `nil`: none is shown.
  package func method(of grant: String) -> AccessMethod? { shown[grant]?.method }

  /// The place of a grant's shown document, on its own mount, so that `..` leads nowhere from it and the mount's denials hold. The
  /// file system is not asked: ``ShownDocument/open(_:)`` does that, from any thread.
  package func place(grant: String, name: String) throws(KernelError) -> ShownDocument {
    let path = Self.path(grant: grant, name: name)
    let place = try visit { () throws(KernelError) in
      try Descriptor.open(path, flags: .place, resolve: .noSymlinks)
    }
    return ShownDocument(place: place, method: shown[grant]?.method ?? .plainMount, hostID: hostID)
  }

  /// Takes away all that is still shown, as a broker does that finds an instance of one that died.
  ///
  /// - Returns: the paths that were shown.
  package func hideAll() throws(KernelError) -> [String] {
    var shown: [String] = []
    try visit { () throws(KernelError) in
      for exit in Self.paths { _ = try? Mounts.detach(exit) }
      let documents = try Descriptor.open("/documents", flags: [.read, .directory, .noFollow])
      for grant in try DirectoryReader.entries(of: documents) where grant.name != Self.leaving {
        var isStaged = false
        func detach(_ path: String) -> Bool {
          _ = Mounts.makeReadOnly(path)
          return (try? Mounts.detach(path)) != nil
        }
        while detach(Self.folder(of: grant.name)) { isStaged = true }
        let folder = try Descriptor.open(grant.name, below: documents, flags: [.read, .directory, .noFollow])
        for entry in try DirectoryReader.entries(of: folder) {
          let path = "/documents/\(grant.name)/\(entry.name)"
          var count = 0
          while detach(path), count < 1024 { count += 1 }
          if count > 0 || isStaged { shown.append(path) }
        }
      }
    }
    return shown
  }

  /// The places that have been made, by grant.
  package func placeholders() throws(KernelError) -> [(grant: String, name: String)] {
    var places: [(grant: String, name: String)] = []
    for grant in try DirectoryReader.entries(of: documents) where grant.name != Self.leaving {
      let folder = try Descriptor.open(grant.name, below: documents, flags: [.read, .directory, .noFollow])
      for entry in try DirectoryReader.entries(of: folder) where !Self.isRelated(entry.name, in: folder) {
        places.append((grant.name, entry.name))
      }
    }
    return places
  }

  private func identity(for document: FoundDocument) throws(KernelError) -> IdentityMap? {
    guard let hostID else { return nil }
    let status = try document.descriptor.status()
    let key = UInt64(status.userID) << 32 | UInt64(status.groupID)
    if let known = identities[key] { return known }
    let made = try IdentityMap(diskUser: status.userID, diskGroup: status.groupID, shownAs: hostID)
    identities[key] = made
    return made
  }

  func visit<Result>(_ body: () throws(KernelError) -> Result) throws(KernelError) -> Result {
    try Namespaces.visit(instance, from: home, body)
  }
}
