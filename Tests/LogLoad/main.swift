internal import Audit
internal import Foundation

#if canImport(Glibc)
  internal import Glibc
#endif

// Writes logs for the benchmarks, through the same code and with the same settings as the broker. Each verb answers one line of
// numbers.
//
//   logload make LOG EVENTS            a log of an app-like run
//   logload sustain LOG SECONDS EVENTS so many events in each append; events, and seconds until all were on the disk
//   logload start LOG ROUNDS           an entry of a start: median and 99th percentile of µs in the thread that answers, and µs an
//                                      entry in the one that moves them

func fail(_ sentence: String) -> Never {
  FileHandle.standardError.write(Data("logload: \(sentence)\n".utf8))
  exit(2)
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count >= 3, let number = Int(words[2]), number > 0, words.dropFirst(3).allSatisfy({ Int($0) ?? 0 > 0 })
else { fail("usage: logload make LOG EVENTS | sustain LOG SECONDS EVENTS | start LOG ROUNDS") }
do {
  let load = try Load(path: words[1])
  switch words[0] {
  case "make": try load.make(number)
  case "sustain": try load.sustain(seconds: number, each: words.count > 3 ? Int(words[3]) ?? 1 : 1)
  case "start": try load.start(rounds: number)
  default: fail("there is no verb \(words[0])")
  }
} catch { fail("\(error)") }
