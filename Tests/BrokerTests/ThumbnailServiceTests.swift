import Folders
import Foundation
import Kernel
import ScopedAccess
import TestSupport
import Testing
import Wire

@testable import Broker

/// Pictures that apps draw of their documents, with a broker in this process.
@Suite struct ThumbnailServiceTests {
  private func put(_ client: WireClient, _ path: String, _ picture: String) throws {
    _ = try client.call(ThumbnailsInterface.put, ThumbnailsInterface.PutCall(path: path, picture: picture).json)
  }

  private func picture(_ client: WireClient, _ path: String) throws -> (app: String, content: String) {
    let answer = try client.call(ThumbnailsInterface.get, ThumbnailsInterface.GetCall(path: path).json)
    let app = try ThumbnailsInterface.GetReply(json: answer.parameters).app
    let file = Descriptor(owning: try answer.takeDescriptor())
    return (app, String(decoding: try file.readAll(limit: 1000), as: UTF8.self))
  }

  private func fails(_ name: String, _ body: () throws -> Void) {
    do {
      try body()
      Issue.record("it was not refused with \(name)")
    } catch WireError.remote(let error, _) { #expect(error == name) } catch { Issue.record("\(error)") }
  }

  @Test func `THM-4: a picture is kept of a document that the app has made, as it is now`() async throws {
    let world = try await BrokerWorld()
    let app = try world.launch()
    let container = "\(world.folders.containers)/\(app.identifier)"
    for folder in ["Documents", "tmp"] {
      try FileManager.default.createDirectory(atPath: "\(container)/\(folder)", withIntermediateDirectories: true)
    }
    func write(_ text: String, _ name: String) throws {
      try text.write(toFile: "\(container)/\(name)", atomically: false, encoding: .utf8)
    }
    try write("mine", "Documents/own.txt")
    try write("pixels", "tmp/own.png")
    let own = "/home/user/Documents/own.txt"
    try put(app.app, own, "/home/user/tmp/own.png")
    let (name, content) = try picture(world.user, "\(container)/Documents/own.txt")
    #expect(name == app.identifier && content == "pixels")
    // Another picture takes its place; another content has none.
    try write("more pixels", "tmp/own.png")
    try put(app.app, own, "/home/user/tmp/own.png")
    #expect(try picture(app.app, own).content == "more pixels")
    try write("changed", "Documents/own.txt")
    fails(ThumbnailsInterface.Failure.noPictureName) { _ = try picture(app.app, own) }

    // Not its own, no document, and no picture of its own.
    let document = try app.pick([try world.file("letter.txt")])[0]
    try app.start(document)
    fails(ThumbnailsInterface.Failure.notMadeName) { try put(app.app, document.path, "/home/user/tmp/own.png") }
    fails(ThumbnailsInterface.Failure.notMadeName) { try put(world.user, "/etc/hostname", "/etc/hostname") }
    fails(ThumbnailsInterface.Failure.notKnownName) { try put(app.app, "/etc/hostname", "/home/user/tmp/own.png") }
    fails(ThumbnailsInterface.Failure.notKnownName) { try put(app.app, own + "x", "/home/user/tmp/own.png") }
    try FileManager.default.createSymbolicLink(
      atPath: "\(container)/tmp/link.png", withDestinationPath: "/etc/hostname")
    for wrong in ["/etc/hostname", "/home/user/tmp/none.png", "/home/user/tmp/link.png", "/home/user/tmp"] {
      fails(ThumbnailsInterface.Failure.notTakenName) { try put(app.app, own, wrong) }
    }
    try await world.end()
  }

  @Test func `The oldest pictures of an app give way, by number and by size`() throws {
    let folder = try TemporaryFolder()
    func document(_ name: String) throws -> FoundDocument {
      try FoundDocument(try Descriptor.open(try folder.write(name, name), flags: .place))
    }
    var pictures = DrawnPictures(folder: "\(folder.path)/pictures")
    pictures.most = (count: 2, bytes: 100)
    let documents = try ["a", "b", "c"].map(document)
    for document in documents {
      try pictures.keep(Array(repeating: 0, count: 10), of: document, by: "app")
      // A file system's times are coarser than a loop.
      usleep(20_000)
    }
    #expect(documents.map { pictures.picture(of: $0) != nil } == [false, true, true])
    try pictures.keep(Array(repeating: 0, count: 95), of: documents[0], by: "app")
    #expect(documents.map { pictures.picture(of: $0) != nil } == [true, false, false])
    pictures.forget("app")
    #expect(pictures.picture(of: documents[0]) == nil)
  }
}
