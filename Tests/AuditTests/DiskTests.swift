import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Audit

#if canImport(Glibc)
  import Glibc
#endif

/// A disk that does what a test wants.
private final class TestDisk: Sendable {
  struct State {
    /// What it answers; nil: nothing, until that changes.
    var answer: Int32? = 0
    /// How often it was asked, and is being asked.
    var asked = 0
  }

  let state = Mutex(State())

  var settings: AuditLog.Settings {
    var settings = AuditLog.Settings()
    settings.syncAfter = 0
    settings.syncWithin = 0
    settings.sync = { [self] _ in
      state.withLock { $0.asked += 1 }
      while true {
        if let answer = state.withLock({ $0.answer }) { return answer }
        usleep(500)
      }
    }
    return settings
  }

  func answers(_ answer: Int32?) { state.withLock { $0.answer = answer } }
}

/// Until it is so; a test that waits for ever is ended by whoever runs it.
private func wait(_ what: String, until condition: () throws -> Bool) throws {
  for _ in 0..<120_000 {
    if try condition() { return }
    usleep(1000)
  }
  Issue.record("waited in vain for \(what)")
}

@Suite struct `AUD-4: the disk` {
  @Test func `is not waited for by who appends, and answers are held until it has what they are about`() throws {
    let folder = try Folder()
    let disk = TestDisk()
    let log = try AuditLog(path: folder.log, settings: disk.settings)
    let told = Mutex(0)
    log.onDisk { told.withLock { $0 += 1 } }
    disk.answers(nil)
    #expect(try log.append([AuditEvent(.launch)]) == 1)
    try wait("the disk to be asked") { disk.state.withLock { $0.asked } > 0 }
    #expect(log.heldUntil(.group) == 1 && log.heldUntil(.full) == 1)
    // The disk has not answered, and everything goes on.
    #expect(try log.append([AuditEvent(.start)]) == 2)
    #expect(log.durable == 0)
    #expect(try AuditReader(path: folder.log).lastSequence() == 2)
    #expect(try HeadFile.read(LogFiles(folder.log).head)?.mark.sequence == 0, "the head promises what is on the disk")
    disk.answers(0)
    try wait("both to be on the disk") { log.durable == 2 }
    #expect(log.heldUntil(.group) == nil && log.heldUntil(.full) == nil)
    try wait("the head to say so") { try HeadFile.read(LogFiles(folder.log).head)?.mark.sequence == 2 }
    try wait("somebody to be told") { told.withLock { $0 } > 0 }
  }

  @Test func `when it has time, holds no answer but those that are to wait for it`() throws {
    let folder = try Folder()
    let disk = TestDisk()
    var settings = disk.settings
    settings.syncAfter = .max / 4
    settings.syncWithin = .max / 4
    let log = try AuditLog(path: folder.log, settings: settings)
    try log.append([AuditEvent(.launch)])
    #expect(log.heldUntil(.group) == nil)
    #expect(log.heldUntil(.full) == 1)
    // Who waits does so for the disk alone.
    try wait("it to be on the disk") { log.durable == 1 }
    #expect(log.heldUntil(.full) == nil)
  }

  @Test func `that fails is not believed when it is asked again: nothing is decided before another journal is written`()
    throws
  {
    let folder = try Folder()
    let disk = TestDisk()
    let log = try AuditLog(path: folder.log, settings: disk.settings)
    try log.append([AuditEvent(.launch)])
    try wait("the first to be on the disk") { log.durable == 1 }
    let before = try inode(folder.journal)
    disk.answers(EIO)
    try log.append([AuditEvent(.start)])
    var refusal: AuditLogError?
    try wait("the log to refuse") {
      do throws(AuditLogError) { try log.append([AuditEvent(.stop)]) } catch { refusal = error }
      return refusal != nil
    }
    #expect(refusal?.description.contains("the disk has not taken it") == true)
    #expect(log.heldUntil(.group) != nil)
    let recorded = try AuditReader(path: folder.log).lastSequence()
    disk.answers(0)
    try wait("all that was recorded to be on the disk") { log.durable == recorded }
    #expect(try inode(folder.journal) != before, "in another file")
    #expect(log.heldUntil(.group) == nil)
    #expect(try log.append([AuditEvent(.exit)]) == recorded + 1)
    try log.finish()
    #expect(try AuditReader(path: folder.log).verify() == recorded + 1)
  }

  private func inode(_ path: String) throws -> UInt64 {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? UInt64)
  }

  @Test func `does not keep a log from being closed: no journal is left while a thread waits for it`() throws {
    let folder = try Folder()
    let disk = TestDisk()
    let log = try AuditLog(path: folder.log, settings: disk.settings)
    disk.answers(nil)
    try log.append([AuditEvent(.launch)])
    try wait("the disk to be asked") { disk.state.withLock { $0.asked } > 0 }
    try log.finish()
    #expect(unsafe access(folder.journal, F_OK) != 0)
    #expect(log.durable == 1)
    #expect(try AuditReader(path: folder.log).verified().head.mark == log.anchor)
    #expect(throws: AuditLogError.self) { try log.append([AuditEvent(.exit)]) }
    disk.answers(0)
  }

  /// A new journal takes over while others append and the disk takes its time.
  @Test func `loses nothing that was appended while journals change`() throws {
    let folder = try Folder()
    let disk = TestDisk()
    var settings = disk.settings
    settings.journalSize = 4096
    let log = try AuditLog(path: folder.log, settings: settings)
    try onOwnThreads(4) { thread in
      if thread == 3 {
        for _ in 0..<40 { try log.flush() }
      } else {
        for _ in 0..<150 { try log.append([AuditEvent(.start, app: "\(thread)")]) }
      }
    }
    let killed = try folder.asIfKilled()
    #expect(try AuditReader(path: killed.log).verify() == 450)
    #expect(try AuditLog(path: killed.log).append([AuditEvent(.exit)]) == 451)
    try log.finish()
    #expect(try AuditReader(path: folder.log).verify() == 450)
  }
}
