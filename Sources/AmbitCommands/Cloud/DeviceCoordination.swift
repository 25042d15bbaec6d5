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
    _ intents: [CoordinatedAccess.Intent], _ body: (CoordinatedAccess) throws -> Value
  ) throws -> Value {
    let access = try CoordinatedAccess(intents, .init("ambit cloud sync", purpose: purpose))
    defer { access.done() }
    return try body(access)
  }

  func read<Value>(_ paths: [String], _ body: () throws -> Value) throws -> Value {
    try access(paths.map { .init(path: $0, use: .read, options: []) }) { _ in try body() }
  }

  func write<Value>(_ items: [DeviceIntent], _ body: () throws -> Value) throws -> Value {
    let intents = items.map { item in
      let option =
        switch item.use {
        case .merge: "forMerging"
        case .delete: "forDeleting"
        case .move: "forMoving"
        }
      return CoordinatedAccess.Intent(path: item.path, use: .write, options: [option])
    }
    return try access(intents) { access in
      let value = try body()
      for item in items {
        if case .move(let target) = item.use { try? access.moved(from: item.path, to: target) }
      }
      return value
    }
  }

  func keepConflict(_ path: String, device: String) throws {
    let _: VersionsInterface.KeepReply = try VersionCall.call(
      VersionsInterface.keep, VersionsInterface.KeepCall(path: path, conflict: true, device: device))
  }
}
