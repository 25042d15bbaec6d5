// Answers questions about policies, manifests and logs: an app's possible access, its past access, and the effect of a change.
// Values and rules alone; nothing here opens a file or asks the kernel.
