internal import AmbitKit
internal import ArgumentParser
internal import Foundation
internal import Synchronization

struct Query: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List the documents that the app may know and that match a predicate.",
    discussion: """
      The predicate is written as for NSPredicate, over the keys of NSMetadataItem: kMDItemFSName, kMDItemDisplayName, kMDItemPath, \
      kMDItemFSSize, kMDItemFSContentChangeDate, kMDItemFSCreationDate, kMDItemContentType, kMDItemContentTypeTree, \
      NSMetadataUbiquitousItemIsExternalDocumentKey, NSMetadataUbiquitousItemContainerDisplayNameKey. Comparisons: == != < <= > >= \
      BETWEEN BEGINSWITH ENDSWITH CONTAINS LIKE MATCHES IN, with [c], [d] or [cd]; AND, OR, NOT; TRUEPREDICATE.

        ambitctl query "kMDItemFSName ENDSWITH[c] '.txt'" --sort kMDItemFSName
        ambitctl query TRUEPREDICATE --scope external

      A line has the path of a document of the app's own, or the scoped URL of one that was granted to it. With --follow the lines begin \
      with +, ~ or -: a new result, one that has changed, one that is none any more.

      Exit status: 0 done, 1 the predicate cannot be used, or there is no broker.
      """)

  enum Scope: String, ExpressibleByArgument, CaseIterable {
    case local, external, ubiquitous

    var constant: String {
      self == .external
        ? NSMetadataQueryAccessibleUbiquitousExternalDocumentsScope : NSMetadataQueryUbiquitousDocumentsScope
    }
  }

  enum Format: String, ExpressibleByArgument, CaseIterable { case lines, json }

  @Argument(help: "The predicate.") var predicate: String
  @Option(
    help:
      "local or ubiquitous: ~/Documents; external: granted documents. Several times: all of these. Default: everything."
  )
  var scope: [Scope] = []
  @Flag(help: "Go on with changes as they happen. Until interrupted.") var follow = false
  @Option(help: "lines, or json: an object for each document.") var format: Format = .lines
  @Option(help: "Sort by this key; a minus before it: descending.") var sort: [String] = []
  @Option(help: "End after so many results and changes.") var count: Int?

  func run() throws {
    try Console.explaining {
      let query = NSMetadataQuery()
      query.predicate = try NSPredicate(checking: predicate)
      query.searchScopes = scope.map(\.constant)
      query.sortDescriptors = sort.map { key in
        key.hasPrefix("-")
          ? NSSortDescriptor(key: String(key.dropFirst()), ascending: false)
          : NSSortDescriptor(key: key, ascending: true)
      }
      let updates = query.updates()
      guard query.start() else { throw query.lastError ?? CocoaError(.featureUnsupported) }
      try query.waitForBarrier()
      let printer = Printer(format: format, marks: follow, left: count)
      for result in query.results { try printer.print(result as? NSMetadataItem, "+") }
      guard follow else { return }
      try Self.follow(updates, printer)
    }
  }

  private final class Printer: Sendable {
    private let format: Format
    private let marks: Bool
    private let left: Mutex<Int?>

    init(format: Format, marks: Bool, left: Int?) {
      (self.format, self.marks) = (format, marks)
      self.left = Mutex(left)
    }

    var isOver: Bool { left.withLock { $0.map { $0 <= 0 } ?? false } }

    func print(_ item: NSMetadataItem?, _ mark: String) throws {
      guard let item, !isOver else { return }
      left.withLock { left in left = left.map { $0 - 1 } }
      switch format {
      case .lines:
        let url = item.value(forAttribute: NSMetadataItemURLKey) as? URL
        let path = item.value(forAttribute: NSMetadataItemPathKey) as? String ?? ""
        let place = url.map { $0.fragment == nil ? $0.path : $0.absoluteString } ?? path
        try Console.print((marks ? "\(mark) " : "") + Console.printable(place))
      case .json:
        var object: [String: Any] = [:]
        for key in item.attributes {
          switch item.value(forAttribute: key) {
          case let date as Date: object[key] = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
          case let url as URL: object[key] = url.absoluteString
          case let value?: object[key] = value
          case nil: break
          }
        }
        if marks { object["change"] = ["+": "added", "~": "changed", "-": "removed"][mark] }
        let data = try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
        try Console.print(Console.printableJSON(String(decoding: data, as: UTF8.self)))
      }
    }
  }

  private static func follow(_ updates: AsyncStream<NSMetadataQuery.Update>, _ printer: Printer) throws {
    let done = DispatchSemaphore(value: 0)
    let box = Outcome()
    Task.detached {
      do {
        // The first ones are printed already.
        for await update in updates where update.kind == .changed {
          for item in update.added { try printer.print(item, "+") }
          for item in update.changed { try printer.print(item, "~") }
          for item in update.removed { try printer.print(item, "-") }
          if printer.isOver { break }
        }
      } catch { box.failure.withLock { $0 = error } }
      done.signal()
    }
    done.wait()
    if let failure = box.failure.withLock({ $0 }) { throw failure }
  }

  private final class Outcome: Sendable {
    let failure = Mutex<(any Error)?>(nil)
  }
}
