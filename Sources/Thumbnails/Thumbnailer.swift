internal import Kernel
internal import Paths

/// A program that makes thumbnails.
package struct Thumbnailer: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// Of an app, by its bundle identifier.
    case app(String)
    /// Of the system, by the name of its `.thumbnailer` file.
    case system(String)
  }

  package var kind: Kind
  /// The program's path on the host.
  package var program: String
  /// Its arguments. `%s` is the size in pixels, `%u` a URL of the document, `%i` its path, `%o` the path of the picture to write.
  package var arguments: [String]
  /// Content types (of apps) or MIME types (of the system) that it draws.
  package var types: [String]
  /// Smaller requests do not call it, in pixels (`THM-2`).
  package var smallest: Int

  package init(kind: Kind, program: String, arguments: [String], types: [String], smallest: Int = 0) {
    (self.kind, self.program, self.arguments) = (kind, program, arguments)
    (self.types, self.smallest) = (types, smallest)
  }

  /// For people.
  package var name: String {
    switch kind {
    case .app(let identifier): identifier
    case .system(let file): file
    }
  }

  /// The arguments for one request.
  ///
  /// - Parameters:
  ///   - document: its path, as the program sees it.
  ///   - output: where the picture is to be written.
  package func arguments(document: String, size: Int, output: String) -> [String] {
    arguments.map { argument in
      var filled = ""
      var rest = argument[...]
      while let mark = rest.firstIndex(of: "%") {
        filled += rest[..<mark]
        let next = rest.index(after: mark)
        guard next < rest.endIndex else {
          rest = ""
          break
        }
        switch rest[next] {
        case "s": filled += "\(size)"
        case "u": filled += Self.url(document)
        case "i": filled += document
        case "o": filled += output
        case "%": filled += "%"
        default: break
        }
        rest = rest[rest.index(after: next)...]
      }
      return filled + rest
    }
  }

  /// A `file` URL of a path, as freedesktop's programs write it: everything but letters, digits and `-._~/` is escaped.
  package static func url(_ path: String) -> String {
    let plain = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/!$&'()*+,;=:@".utf8)
    var url = "file://"
    for byte in path.kernelBytes {
      if plain.contains(byte) {
        url.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        let hex = Array("0123456789ABCDEF")
        url += "%\(hex[Int(byte >> 4)])\(hex[Int(byte & 15)])"
      }
    }
    return url
  }
}

/// Which program draws a document, and why no other.
package enum ThumbnailRules {
  /// A program that is not asked, and why.
  package struct Passed: Equatable, Sendable {
    package let name: String
    /// The end of a sentence.
    package let reason: String
  }

  /// An app's extension is asked for the very type of the document, and only if its app exports that type (`THM-1`); it goes before the
  /// system's programs, which are asked by MIME type.
  ///
  /// - Parameters:
  ///   - type: the document's content type.
  ///   - mimeType: the same as the MIME database has it.
  ///   - exporter: the app that exports the type.
  ///   - size: in pixels.
  package static func choice(
    _ thumbnailers: [Thumbnailer], type: String, mimeType: String?, exporter: String?, size: Int
  ) -> (chosen: Thumbnailer?, passed: [Passed]) {
    var passed: [Passed] = []
    var chosen: Thumbnailer?
    for each in thumbnailers {
      let reason: String?
      switch each.kind {
      case .app(let identifier):
        if !each.types.contains(where: { $0.lowercased() == type.lowercased() }) {
          reason = "it draws other types than \(type)"
        } else if exporter != identifier {
          reason = "its app does not export \(type)"
        } else if size < each.smallest {
          reason = "it draws nothing smaller than \(each.smallest) pixels"
        } else {
          reason = nil
        }
      case .system:
        reason =
          mimeType.map(each.types.contains) == true
          ? nil : "it does not draw \(mimeType ?? "documents without a MIME type")"
      }
      if let reason {
        passed.append(Passed(name: each.name, reason: reason))
      } else if let first = chosen {
        passed.append(Passed(name: each.name, reason: "\(first.name) comes before it"))
      } else {
        chosen = each
      }
    }
    return (chosen, passed)
  }
}

/// A `.thumbnailer` file of the system (freedesktop's thumbnail managing standard).
package struct ThumbnailerFile: Equatable, Sendable {
  package let tryExec: String?
  package let words: [String]
  package let mimeTypes: [String]

  /// - Returns: `nil` for a file without a command or types.
  package init?(_ text: String) {
    var values: [String: String] = [:]
    var isEntry = false
    for line in text.split(separator: "\n") {
      if line.hasPrefix("[") {
        isEntry = line == "[Thumbnailer Entry]"
      } else if isEntry, !line.hasPrefix("#"), let sign = line.firstIndex(of: "=") {
        values[Self.trimmed(line[..<sign])] = Self.trimmed(line[line.index(after: sign)...])
      }
    }
    guard let command = values["Exec"], let words = Self.words(command), !words.isEmpty, let types = values["MimeType"]
    else { return nil }
    tryExec = values["TryExec"]
    self.words = words
    mimeTypes = types.split(separator: ";").map(Self.trimmed)
    guard !mimeTypes.isEmpty else { return nil }
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    return String(start.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }.reversed())
  }

  /// The words of a command. Quotes are those of the desktop entry specification; a command with characters that only a shell
  /// understands is none.
  private static func words(_ command: String) -> [String]? {
    var (words, word, isQuoted, isEscaped): ([String], String?, Bool, Bool) = ([], nil, false, false)
    for character in command {
      if isEscaped {
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if isQuoted {
        if character == "\"" {
          isQuoted = false
        } else if character == "\\" {
          isEscaped = true
        } else {
          word = (word ?? "") + String(character)
        }
      } else {
        switch character {
        case "\"":
          isQuoted = true
          word = word ?? ""
        case " ", "\t":
          if let done = word { words.append(done) }
          word = nil
        case "'", "\\", ">", "<", "|", "&", ";", "$", "`", "(", ")": return nil
        default: word = (word ?? "") + String(character)
        }
      }
    }
    guard !isQuoted else { return nil }
    if let word { words.append(word) }
    return words
  }
}
