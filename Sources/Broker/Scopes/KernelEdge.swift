package import Folders
package import Kernel
package import ScopedAccess

/// Where documents appear in a sandbox. ``ScopeMounts`` is the kernel's.
package protocol ScopeMounting: AnyObject {
  func prepare(grant: String, name: String, kind: Folders.DocumentKind) throws(KernelError)
  func show(
    _ document: FoundDocument, grant: String, name: String, also others: [String], rights: AccessRights,
    in staging: Descriptor?
  ) throws(KernelError) -> BusyMount?
  func replace(by document: FoundDocument, grant: String, name: String, rights: AccessRights) throws(KernelError)
  func hide(grant: String, name: String, atOnce: Bool) throws(KernelError) -> BusyMount?
  func showRelated(
    _ document: FoundDocument, grant: String, name: String, rights: AccessRights, in staging: Descriptor?
  ) throws(KernelError)
  func hideRelated(grant: String, name: String, in staging: Descriptor?) throws(KernelError) -> BusyMount?
  var exitDue: Int64? { get }
  func beginEmptying() throws(KernelError)
  func emptyExit() throws(KernelError)
  func method(of grant: String) -> AccessMethod?
  func place(grant: String, name: String) throws(KernelError) -> ShownDocument
  func hideAll() throws(KernelError) -> [String]
  func placeholders() throws(KernelError) -> [(grant: String, name: String)]
}

extension ScopeMounts: ScopeMounting {}

/// The processes of a sandbox. ``SandboxProcesses`` asks the kernel.
package protocol ProcessLookup {
  func process(_ sender: UnixSocket.Sender) -> SandboxProcess?
  func parent(of process: SandboxProcess) -> SandboxProcess?
}

extension SandboxProcesses: ProcessLookup {}

/// Stops the processes of a sandbox and lets them go on. ``SandboxSuspension`` is the kernel's.
package protocol ProcessSuspending: Sendable {
  func suspend(while goesOn: () -> Bool) throws(KernelError) -> Int?
  func resume() throws(KernelError)
  var isSuspended: Bool { get }
  /// Bytes that its processes use. The kernel looks at every page.
  var memory: Int { get }
  /// Ends the sandbox: its init, and with it every process.
  func end() throws(KernelError)
}

extension SandboxSuspension: ProcessSuspending {}

/// Finds files by their identity. ``DocumentFinder`` asks the kernel.
package protocol DocumentFinding: Sendable {
  func findQuickly(_ lookup: Lookup) -> LookupResult?
  func findThoroughly(_ lookup: Lookup, beside: Bool) -> LookupResult
  func searches(for identity: FileIdentity) -> Bool
  func isInPlace(_ identity: FileIdentity, at path: String) -> Bool
  func isTaken(_ path: String) -> Bool
  func search(
    _ lost: [FileIdentity: String], entries: Int, time: Int64
  ) -> (found: [FileIdentity: String], absent: Set<FileIdentity>)
}

extension DocumentFinder: DocumentFinding {}

/// The kernel, as services see it. Tests put something else in its place, and nothing else.
package struct KernelEdge {
  /// Descriptors that a launcher hands over with a launch.
  package struct Handed {
    package let process, instance, documents, table: Descriptor
    package let hostID: UInt32?
    package let executes: Bool
  }

  let finder: any DocumentFinding
  var mounts: (_ handed: Handed, _ home: Descriptor) -> any ScopeMounting
  var processes: (_ handed: Handed) -> (any ProcessLookup)?
  var suspension: (_ handed: Handed, _ group: GroupFreezer?) -> (any ProcessSuspending)?

  package init(
    finder: any DocumentFinding = DocumentFinder(),
    mounts: @escaping (Handed, Descriptor) -> any ScopeMounting = { handed, home in
      ScopeMounts(
        home: home, instance: handed.instance, documents: handed.documents, hostID: handed.hostID,
        executes: handed.executes)
    },
    processes: @escaping (Handed) -> (any ProcessLookup)? = { SandboxProcesses(init: $0.process, table: $0.table) },
    suspension: @escaping (Handed, GroupFreezer?) -> (any ProcessSuspending)? = { handed, group in
      SandboxProcesses(init: handed.process, table: handed.table).map { _ in
        SandboxSuspension(handed.table, group: group)
      }
    }
  ) {
    (self.finder, self.mounts, self.processes, self.suspension) = (finder, mounts, processes, suspension)
  }
}
