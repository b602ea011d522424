package process

// Identify is identify, for tests.
var Identify = identify
