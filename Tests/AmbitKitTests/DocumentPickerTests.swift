import AmbitKit
import Foundation
import Synchronization
import Testing
import Wire

extension AmbitKitTests {
  @Suite struct `The document picker` {
    /// Written as for UIKit.
    final class Delegate: UIDocumentPickerDelegate {
      var picked: [[URL]] = []
      var cancelled = 0
      func documentPicker(_ controller: UIDocumentPickerViewController, didPickDocumentsAt urls: [URL]) {
        picked.append(urls)
      }
      func documentPickerWasCancelled(_ controller: UIDocumentPickerViewController) { cancelled += 1 }
    }

    @Test func `PCK-1, PCK-8: what was picked comes in one callback, with scopes that can be started`() throws {
      try withBroker { broker in
        broker.ledger.withLock { $0.answers = [.success(["a.txt", "b.txt"])] }
        let delegate = Delegate()
        let picker = UIDocumentPickerViewController(forOpeningContentTypes: [.plainText, .json])
        picker.delegate = delegate
        picker.allowsMultipleSelection = true
        picker.message = "Which?"
        picker.present()
        #expect(delegate.picked.map { $0.map(\.lastPathComponent) } == [["a.txt", "b.txt"]])
        #expect(delegate.cancelled == 0)
        for url in delegate.picked[0] { #expect(url.startAccessingSecurityScopedResource()) }
        let asked = try #require(broker.ledger.withLock { $0.lastPick })
        #expect(asked.mode == .open && asked.multiple && asked.message == "Which?")
        // All that conform to one of the types, and nothing else.
        #expect(Set(asked.types ?? []).isSuperset(of: ["txt", "md", "swift", "json", "geojson"]))
        #expect(Set(asked.types ?? []).isDisjoint(with: ["png", "rtf", "pdf"]))
      }
    }

    /// Told on the main queue.
    final class LateDelegate: UIDocumentPickerDelegate, @unchecked Sendable {
      static let queue = DispatchSpecificKey<String>()
      private let told = NSCondition()
      private var events: [String] = []

      func documentPicker(_ controller: UIDocumentPickerViewController, didPickDocumentsAt urls: [URL]) {
        note("\(urls.map(\.lastPathComponent))")
      }
      func documentPickerWasCancelled(_ controller: UIDocumentPickerViewController) { note("cancelled") }

      private func note(_ event: String) {
        told.withLock {
          events.append("\(event) \(DispatchQueue.getSpecific(key: Self.queue) ?? "elsewhere")")
          told.signal()
        }
      }

      func wait(for count: Int) -> [String] {
        told.withLock {
          while events.count < count, told.wait(until: Date(timeIntervalSinceNow: 30)) {}
          return events
        }
      }
    }

    @Test func `presenting returns at once, and the delegate is told on the main queue`() throws {
      try withBroker { broker in
        broker.ledger.withLock {
          $0.answers = [.success(["a.txt"]), .failure(PickerInterface.Failure.cancelled)]
        }
        let (delegate, host) = (LateDelegate(), UIViewController())
        DispatchQueue.main.setSpecific(key: LateDelegate.queue, value: "main")
        for count in 1...2 {
          let picker = UIDocumentPickerViewController(forOpeningContentTypes: [.plainText])
          picker.delegate = delegate
          host.present(picker, animated: true)
          #expect(delegate.wait(for: count).count == count)
        }
        #expect(delegate.wait(for: 2) == [#"["a.txt"] main"#, "cancelled main"])
      }
    }

    @Test func `PCK-9: a cancelled picker is told once, and nothing was granted`() throws {
      try withBroker { broker in
        broker.ledger.withLock { $0.answers = [.failure(PickerInterface.Failure.cancelled)] }
        let delegate = Delegate()
        let picker = DocumentPicker(documentTypes: ["public.content"], in: .open)
        picker.delegate = delegate
        picker.present()
        #expect(delegate.cancelled == 1 && delegate.picked.isEmpty)
        #expect(broker.ledger.withLock { $0.grants.isEmpty })
        #expect(broker.ledger.withLock { $0.lastPick } == .init())
      }
    }

    @Test func `what is asked for is what the user is asked`() throws {
      try withBroker { broker in
        let swift = try #require(UTType(filenameExtension: "swift"))
        let table: [(types: [UTType], isReadOnly: Bool, asked: PickerInterface.PickCall)] = [
          ([.item], false, .init()),
          ([.folder], true, .init(kind: .folder, access: .readOnly)),
          ([swift], false, .init(types: ["swift"])),
          ([.json, .data], false, .init()),
          ([], false, .init()),
        ]
        for (types, isReadOnly, asked) in table {
          broker.ledger.withLock { $0.answers = [.success(["x"])] }
          _ = try DocumentPicker.pick(types, isReadOnly: isReadOnly)
          #expect(broker.ledger.withLock { $0.lastPick } == asked)
        }
      }
    }

    @Test func `errors come as errors that say what to do`() throws {
      try withBroker { broker in
        let table: [(ErrorReply, CocoaError.Code, String)] = [
          (PickerInterface.Failure.cancelled, .userCancelled, "chose nothing"),
          (PickerInterface.Failure.noUser("no terminal"), .featureUnsupported, "no terminal"),
          (PickerInterface.Failure.notGrantable("it is your home"), .fileReadNoPermission, "it is your home"),
        ]
        for (answer, code, words) in table {
          broker.ledger.withLock { $0.answers = [.failure(answer)] }
          let error = cocoa { _ = try DocumentPicker.pick() }
          #expect(error?.code == code && error?.localizedDescription.contains(words) == true)
        }
      }
    }

    @Test func `PCK-20: an impossible request is refused before the user sees anything`() throws {
      try withBroker { broker in
        let web = try #require(URL(string: "https://example.org/a.txt"))
        let refused: [(DocumentPicker, String)] = [
          (DocumentPicker(documentTypes: ["public.item"], in: .exportToService), "at least one file"),
          (DocumentPicker(forExporting: []), "at least one file"),
          (DocumentPicker(forExporting: [web]), "at least one file"),
          (DocumentPicker(documentTypes: ["com.example.unknown"], in: .open), "com.example.unknown"),
          (DocumentPicker(forOpeningContentTypes: [.folder, .json]), "folders and files"),
        ]
        for (picker, words) in refused {
          let error = cocoa { _ = try picker.pick() }
          #expect(error?.localizedDescription.contains(words) == true, "\(words): \(String(describing: error))")
        }
        #expect(broker.ledger.withLock { $0.calls } == [])
        #expect(UTType("com.example.unknown") == nil && UTType("public.json") == .json)
        #expect(UTType(filenameExtension: "a/b") == nil && UTType(filenameExtension: ".txt") == nil)
      }
    }

    @Test func `PCK-2, PCK-6: copies come as URLs that need no scope`() throws {
      try withBroker { broker in
        let file = URL(fileURLWithPath: "/home/user/Documents/../Documents/Essay.txt")
        let table: [(DocumentPicker, PickerInterface.PickCall)] = [
          (DocumentPicker(forOpeningContentTypes: [.item], asCopy: true), .init(mode: .import)),
          (
            DocumentPicker(forExporting: [file], asCopy: true),
            .init(mode: .export, sources: ["/home/user/Documents/Essay.txt"])
          ),
          (
            DocumentPicker(url: file, in: .moveToService),
            .init(mode: .move, sources: ["/home/user/Documents/Essay.txt"])
          ),
        ]
        for (picker, asked) in table {
          broker.ledger.withLock { $0.answers = [.success(["x"])] }
          _ = try picker.pick()
          #expect(broker.ledger.withLock { $0.lastPick } == asked)
        }
      }
    }

    @Test func `asynchronous code can wait for the user without blocking anybody`() async throws {
      let broker = try ScriptedBroker()
      Broker.addressInTests.withLock { $0 = broker.address }
      defer { Broker.addressInTests.withLock { $0 = nil } }
      broker.ledger.withLock { $0.answers = [.success(["a.txt"])] }
      let urls = try await DocumentPicker.pick([.plainText])
      #expect(urls.map(\.lastPathComponent) == ["a.txt"])
      try broker.stop()
    }
  }
}
