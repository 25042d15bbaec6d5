#if canImport(Glibc)
  internal import Glibc
#endif

/// Strings and arrays that C reads, kept at their addresses until the launch has been handed over.
@safe final class LaunchMemory {
  private var strings: [UnsafeMutablePointer<CChar>] = unsafe []
  private var arrays: [UnsafeMutableRawPointer] = unsafe []

  func string(_ text: String) -> UnsafeMutablePointer<CChar>? {
    guard let copy = unsafe strdup(text.kernel) else { return nil }
    unsafe strings.append(copy)
    return unsafe copy
  }

  func array<Element>(_ elements: [Element]) -> UnsafeMutablePointer<Element> {
    let memory = UnsafeMutablePointer<Element>.allocate(capacity: max(elements.count, 1))
    unsafe memory.initialize(from: elements, count: elements.count)
    unsafe arrays.append(UnsafeMutableRawPointer(memory))
    return unsafe memory
  }

  func argv(_ texts: [String]) -> UnsafePointer<UnsafeMutablePointer<CChar>?> {
    unsafe UnsafePointer(array(texts.map { unsafe string($0) } + [nil]))
  }

  func mutableArgv(_ texts: [String]) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> {
    unsafe array(texts.map { unsafe string($0) } + [nil])
  }

  deinit {
    unsafe strings.forEach { unsafe free($0) }
    unsafe arrays.forEach { unsafe $0.deallocate() }
  }
}
