import Kernel
import TestSupport
import Testing

@testable import Folders

@Suite struct `Records of launches` {
  @Test func `are there as they were written until they are removed, and nothing else is one`() throws {
    let folder = try TemporaryFolder()
    let folders = AmbitFolders(environment: ["AMBIT_HOME": folder.path], home: folder.path)
    try folders.make()
    let records = LauncherRecords(folders)
    #expect(records.all().isEmpty)
    let record = LauncherRecords.Record(
      instance: "i1", launcher: ProcessMark(pid: 7, started: 100), initProcess: ProcessMark(pid: 8, started: .max),
      namespace: 4_026_531_836)
    try records.add(record)
    #expect(throws: KernelError.self) { try records.add(record) }
    _ = try Descriptor.open("\(folders.runtime)/launchers/file", flags: [.write, .create], mode: 0o600)
    #expect(records.all() == [record])
    records.remove("../launchers/i1")
    #expect(records.all() == [record])
    records.remove("i1")
    #expect(records.all().isEmpty)
  }

  @Test(arguments: ["", "7:1 8:2", "7:1 8:2 3 4", "7 8 3", "-7:1 8:2 3", "7:1 8:x 3", "7:1 0:2 3", "7:1 8:2 -3"])
  func `a text that is none makes none`(text: String) {
    #expect(LauncherRecords.Record(instance: "i", text: text) == nil)
  }
}
