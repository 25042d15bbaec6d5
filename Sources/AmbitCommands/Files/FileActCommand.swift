internal import ArgumentParser
internal import Folders
internal import Foundation
internal import Kernel
internal import Launcher
internal import Paths
internal import PickerUI
internal import Terminal
internal import UserFiles
internal import Wire

#if canImport(Glibc)
  internal import Glibc
#endif

/// `ambit file-act`: an act that the user chose in a picker, carried out for it (``FileActor``). The files come as open descriptors, so
/// the act is about those that the rows showed. Nothing types its name.
struct FileActCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "file-act", abstract: "Carry out an act of the picker's. For Ambit's own use.", shouldDisplay: false)

  @Option var answer: Int32
  @Option var argument = ""
  @Argument var act: String
  @Argument var descriptors: [Int32] = []

  /// Seconds: the picker waits.
  static let patience = 10.0

  func validate() throws {
    guard answer > 2, descriptors.count <= 253, descriptors.allSatisfy({ $0 > 2 && $0 != answer }) else {
      throw ValidationError("this is for Ambit's own use; see “ambit browse”")
    }
  }

  func run() throws {
    // A broker that is started here must not keep the pipe open.
    let told = try Descriptor(owning: answer).duplicate()
    let items = try descriptors.map { try Descriptor(owning: $0).duplicate() }
    // Sentences about waiting would be written over the picker.
    let nothing = try Descriptor.open("/dev/null", flags: [.readWrite])
    for standard in 0...2 as ClosedRange<Int32> { _ = dup2(nothing.rawValue, standard) }
    var reply: FileActReply
    // The picker may go away meanwhile.
    signal(SIGPIPE, SIG_IGN)
    var last = Clock.monotonic()
    let tells = {
      guard Clock.monotonic() - last > 1_000_000_000 else { return true }
      last = Clock.monotonic()
      return (try? told.writeAll([UInt8(ascii: " ")])) != nil
    }
    do { reply = try perform(items, while: tells) } catch let failure as Failure {
      reply = FileActReply(sentence: Self.sentence(failure.description), isDone: false)
    } catch let error as KernelError {
      reply = FileActReply(sentence: Self.sentence("\(error)"), isDone: false)
    } catch {
      reply = FileActReply(sentence: "That could not be done.", isDone: false)
    }
    try told.writeAll(Array(reply.json.text.utf8))
  }

  private static func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + (text.hasSuffix(".") ? "" : ".")
  }

  private func perform(_ items: [Descriptor], while goesOn: @escaping () -> Bool) throws -> FileActReply {
    let acts = try FileActs("the picker", timeout: Self.patience, while: goesOn)
    guard let act = FileAction(rawValue: act) else {
      guard let place = UserPlace(rawValue: act) else { throw Failure("there is no such act.") }
      return FileActReply(sentence: "", paths: try Self.paths(of: place, argument, acts))
    }
    guard !items.isEmpty else { throw Failure("no file came with it.") }
    let files = try items.map { item in
      do throws(KernelError) { return try HeldFile(item) } catch { throw FileActs.failure(error, "the file") }
    }
    func all(_ verb: String, _ body: (HeldFile) throws -> String) throws -> FileActReply {
      var paths: [String] = []
      for file in files {
        do { paths.append(try body(file)) } catch let failure as Failure {
          let done = paths.isEmpty ? "" : " \(paths.count) were \(verb) before."
          return FileActReply(sentence: Self.sentence(failure.description) + done, isDone: false, paths: paths)
        }
      }
      let what = files.count == 1 ? "“\(files[0].name)” is \(verb)." : "\(files.count) are \(verb)."
      return FileActReply(sentence: what, paths: paths)
    }
    switch act {
    case .rename:
      guard files.count == 1 else { throw Failure("one file at a time gets another name.") }
      let path = try acts.rename(files[0], to: argument)
      return FileActReply(sentence: "It is called “\(path.lastPathName)” now.", paths: [path])
    case .duplicate:
      var reply = try all("duplicated", acts.duplicate)
      if reply.isDone, let copy = reply.paths.first, files.count == 1 {
        reply.sentence = "“\(copy.lastPathName)” is the copy."
      }
      return reply
    case .move: return try all("moved to \(argument)") { try acts.move($0, toFolder: argument) }
    case .trash: return try all("in the trash") { try acts.putAway($0).path }
    case .restore:
      return try all("back where it was") { file in
        guard let item = acts.item(at: file.path) else { throw Failure("“\(file.name)” is not in the trash.") }
        return try acts.restore(item)
      }
    case .tag:
      guard let tag = FileTag(argument) else { throw Failure(FileTag.refusal(argument) ?? "that is no tag.") }
      // One word for several files: all have it afterwards, or none has it.
      let removes = files.allSatisfy { $0.item.fileTags.tags.contains(where: tag.isSame) }
      return try all(removes ? "no longer tagged “\(tag.name)”" : "tagged “\(tag.name)”") { file in
        _ = try acts.tag(file) { tags in
          if removes {
            tags.remove(tag)
          } else if !tags.add(tag), !tags.tags.contains(where: tag.isSame) {
            throw Failure("“\(file.name)” has \(FileTags.most) tags already.")
          }
        }
        return file.path
      }
    case .favourite:
      let store = try FavouriteStore(try UserSide.folders)
      let wanted = try files.map { try FavouriteStore.favourite($0) }
      var removes = false
      try store.change { favourites in
        removes = wanted.allSatisfy(favourites.contains)
        for each in wanted {
          if removes {
            _ = favourites.remove(where: each.isSameFile)
          } else if !favourites.add(each) {
            throw Failure("there are \(Favourites.most) favourites, and that is the limit.")
          }
        }
      }
      return FileActReply(
        sentence: files.count == 1
          ? "“\(files[0].name)” is \(removes ? "no favourite any more" : "a favourite")."
          : "\(files.count) are \(removes ? "no favourites any more" : "favourites").", paths: wanted.map(\.path))
    case .reveal, .copyPath, .open, .share: throw Failure("the picker does this by itself.")
    }
  }

  private static func paths(of place: UserPlace, _ argument: String, _ acts: FileActs) throws -> [String] {
    switch place {
    case .favourites: try FavouriteStore(try UserSide.folders).found().compactMap(\.path)
    case .trash: acts.trash.items().prefix(2000).map(\.path)
    case .tagged: try TagCommand.find(argument, in: try UserSide.folders.home).paths
    }
  }
}
