// AVA loads this in each test process (`require` of its configuration).
import { registerCompletionHandler } from 'ava';

// All tests and teardowns have ended. A timer that a generous limit left behind would keep the process for minutes.
registerCompletionHandler(() => process.exit());
