internal import Cloud
internal import Foundation
internal import Kernel
internal import Launcher
internal import Synchronization
internal import Wire

/// Accesses of a device to its own documents: coordinated, and known by the device's name.
struct DeviceCoordination: DeviceAccess {
  let device: String
  private let purpose: String

  init(_ device: String) {
    self.device = device
    purpose = "ambit cloud sync \(device) \(UUID().uuidString)"
  }

  private func access<Value>(
    _ intent: CoordinatedAccess.Intent, _ body: (CoordinatedAccess) throws -> Value
  ) throws -> Value {
    let access = try CoordinatedAccess([intent], .init("ambit cloud sync", purpose: purpose))
    defer { access.done() }
    return try body(access)
  }

  func read<Value>(_ path: String, _ body: () throws -> Value) throws -> Value {
    try access(.init(path: path, use: .read, options: [])) { _ in try body() }
  }

  func write<Value>(_ path: String, _ use: DeviceUse, _ body: () throws -> Value) throws -> Value {
    switch use {
    case .merge: return try access(.init(path: path, use: .write, options: ["forMerging"])) { _ in try body() }
    case .delete: return try access(.init(path: path, use: .write, options: ["forDeleting"])) { _ in try body() }
    case .move(let target):
      return try access(.init(path: path, use: .write, options: ["forMoving"])) { access in
        let value = try body()
        try? access.moved(from: path, to: target)
        return value
      }
    }
  }

  func keepConflict(_ path: String, device: String) throws {
    let _: VersionsInterface.KeepReply = try VersionCall.call(
      VersionsInterface.keep, VersionsInterface.KeepCall(path: path, conflict: true, device: device))
  }
}
