/// The kernel's own files in `/proc` that are hidden in a sandbox, and those that may only be read (`proc(5)`).
///
/// Some of them only the host's root may open. They are hidden all the same: an app that root of a container launches can be the
/// host's root to the kernel, without any of its capabilities.
package enum ProcessFiles {
  /// Keys and addresses, memory, interrupts as they come in, the machine's parts and the way it was started. Programs need none of
  /// these; the files that they do need (`cpuinfo`, `meminfo`, `stat`, `loadavg`, `version`, `sys`…) stay.
  package static let masked = [
    "acpi", "asound", "bus", "cmdline", "driver", "fs", "interrupts", "iomem", "ioports", "irq", "kallsyms", "kcore",
    "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags", "latency_stats", "modules", "mtrr",
    "pagetypeinfo", "sched_debug", "schedstat", "scsi", "slabinfo", "softirqs", "sysrq-trigger", "timer_list",
    "vmallocinfo",
  ]

  /// The kernel's settings. Most are open to the host's root alone; `core_pattern` would have the kernel run a program for it.
  package static let readOnly = ["sys"]
}
