internal import AppModel
internal import Dispatch
internal import Foundation
internal import Kernel
internal import Launcher
internal import Policy
internal import Review
internal import Scenario
internal import Synchronization
internal import Terminal

/// Many bundles under one policy, explained by all processors at once.
struct AppSurvey {
  struct App: Sendable {
    let path: String
    let app: DeclaredApp
    let exposure: Exposure
  }

  struct Problem: Sendable {
    let path: String
    let sentence: String
  }

  /// The most exposed first.
  private(set) var apps: [App] = []
  /// Bundles that could not be read, by path.
  private(set) var problems: [Problem] = []
  /// How many there are, those included that were not come to.
  private(set) var count = 0

  /// - Parameter progress: told now and then how many have been explained.
  init(_ bundles: Bundles, under subject: AuditSubject, on ground: Ground, progress: @escaping @Sendable (Int) -> Void)
  {
    let (unread, bundles) = (bundles.unread, bundles.paths)
    count = bundles.count + unread.count
    let done = Mutex<Found>(Found())
    let next = Atomic<Int>(0)
    // An app is a fraction of a millisecond's work: a queue for each would cost as much again.
    DispatchQueue.concurrentPerform(iterations: min(MachineMemory.processors, max(1, bundles.count))) { _ in
      while Interruption.signal == nil {
        let index = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard index < bundles.count else { return }
        let result = Self.explain(bundles[index], under: subject, on: ground)
        let count = done.withLock { found in
          switch result {
          case .success(let app): found.apps.append(app)
          case .failure(let problem): found.problems.append(.init(path: bundles[index], sentence: problem.description))
          }
          return found.apps.count + found.problems.count
        }
        progress(count)
      }
    }
    let found = done.withLock { $0 }
    apps = found.apps.sorted { ($1.exposure.tenths, $0.path) < ($0.exposure.tenths, $1.path) }
    problems = (found.problems + unread).sorted { $0.path < $1.path }
  }

  private struct Found {
    var apps: [App] = []
    var problems: [Problem] = []
  }

  private static func explain(
    _ path: String, under subject: AuditSubject, on ground: Ground
  ) -> Result<App, AppBundleError> {
    do throws(AppBundleError) {
      let app = try DeclaredApp(at: path)
      return .success(App(path: path, app: app, exposure: Exposure(subject.with(app).explanation(on: ground))))
    } catch {
      return .failure(error)
    }
  }

  /// How deep below a folder bundles are looked for.
  static let depth = 8

  /// The places of apps, and folders that were not searched.
  struct Bundles: Sendable {
    var paths: [String] = []
    var unread: [Problem] = []
  }

  /// The bundles below a folder, sorted; the contents of a bundle are a part of it, and links are not followed.
  static func bundles(below folder: String) throws(Launcher.Failure) -> Bundles {
    var isFolder: ObjCBool = false
    guard unsafe FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw Launcher.Failure("\(printable(folder)) is no folder: --bulk takes the folder that has the apps in it.")
    }
    let unread = Mutex<[Problem]>([])
    let names: FileManager.DirectoryEnumerator? = FileManager.default.enumerator(
      at: URL(fileURLWithPath: folder, isDirectory: true), includingPropertiesForKeys: [.isDirectoryKey],
      options: [.skipsHiddenFiles],
      errorHandler: { url, error in
        unread.withLock { $0.append(.init(path: url.path, sentence: "cannot be read: \(error.localizedDescription)")) }
        return true
      })
    guard let names else { throw Launcher.Failure("\(printable(folder)) cannot be read.") }
    var found = Bundles()
    while Interruption.signal == nil, let url = names.nextObject() as? URL {
      if AppBundle.isBundlePath(url.path) {
        found.paths.append(url.path)
        names.skipDescendants()
      } else if names.level >= depth {
        // Said only where there is something to look into.
        if Self.holdsFolders(url) {
          found.unread.append(.init(path: url.path, sentence: "lies \(depth) folders down, and no deeper is looked"))
        }
        names.skipDescendants()
      }
    }
    found.paths.sort()
    found.unread += unread.withLock(\.self)
    return found
  }

  private static func holdsFolders(_ url: URL) -> Bool {
    let inside = try? FileManager.default.contentsOfDirectory(
      at: url, includingPropertiesForKeys: [.isDirectoryKey], options: [.skipsHiddenFiles])
    return inside?.contains { (try? $0.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true } ?? false
  }
}
