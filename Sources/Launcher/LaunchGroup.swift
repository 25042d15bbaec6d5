internal import Folders
internal import Kernel
internal import Sandbox

#if canImport(Glibc)
  internal import Glibc
#endif

/// The control group of one launch, from before its sandbox is made until everything in it has ended.
final class LaunchGroup {
  let group: ControlGroup
  private var entry: GroupEntry?

  /// Makes as much of the group that the plan asks for as this system allows. The user is told of the missing parts. ``Admission``
  /// learns which parts exist, and decides whether the app then runs.
  static func make(for plan: SandboxPlan, instance: String, _ folders: AmbitFolders) -> LaunchGroup? {
    guard plan.usage.wantsGroup else { return nil }
    let limits = plan.usage.ofGroup
    let places = ControlGroups(limits.controllers)
    let lacking = limits.controllers.filter { places[$0] == nil }
    if !lacking.isEmpty {
      Failure.say(
        "the policy asks for a control group, and there is none to be had here for "
          + "\(lacking.map(\.rawValue).joined(separator: ", ")); “ambit doctor” says what would help")
    }
    if places.places.isEmpty { return nil }
    do throws(KernelError) {
      return LaunchGroup(try ControlGroup(instance, limits, in: places, records: GroupRecords(folders.groups)))
    } catch {
      Failure.say("the control group that the policy asks for cannot be made: \(error)")
      return nil
    }
  }

  private init(_ group: ControlGroup) { self.group = group }

  /// Begins to move the init into it, if it was not born there. This runs beside the work of the init and the broker, since the
  /// kernel takes its time.
  func add(_ process: Int32) throws(KernelError) {
    if group.hasToBeJoined { entry = try GroupEntry(group, process) }
  }

  /// Waits until the init is in it.
  ///
  /// - Returns: whether the init waits for that to be said.
  func awaitEntry() throws -> Bool {
    guard let entry else { return false }
    try entry.finish()
    return true
  }

  /// - Parameter process: the pidfd of the init, with which everything in it ends; `nil` if there was none.
  func remove(after process: Descriptor?) {
    if let process {
      // An init whose launch has failed waits for a word that does not come.
      try? process.signalProcess(SIGKILL)
      var entries = [PollEntry(process, .read)]
      _ = try? Poll.wait(&entries, timeout: .seconds(1))
    }
    // The broker removes the rest.
    for _ in 1...20 {
      if group.remove() { return }
      usleep(1000)
    }
  }
}
