// Writes the CPU time and the memory of a process as JSON to its error output when it ends: node --import report-usage.js …
process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write(
    JSON.stringify({ cpuSeconds: (userCPUTime + systemCPUTime) / 1e6, rssMiB: maxRSS / 1024 }),
  );
});
