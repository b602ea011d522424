// The Go compiler allows functions without a body only in packages with assembly.
