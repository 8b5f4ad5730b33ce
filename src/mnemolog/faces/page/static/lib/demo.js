// A week of two agents, written through the same door as everything else.
import { post, url } from "./api.js";

const DAY = 86_400_000;
const DEMO = ["demo-week-payments", "demo-week-incident"];

/** [days ago, hour, minute, entry] */
const PAYMENTS = [
  [6, 9, 0, { role: "user", content: "We are rebuilding the payment system. No order may ever be half written." }],
  [6, 9, 1, { role: "assistant", agent_id: "architect", content: "Then every step of an order belongs into **one transaction**. I would compare PostgreSQL, MySQL and MongoDB for that." }],
  [6, 9, 14, { type: "decision", id: "demo-database", agent_id: "architect", tags: ["database"], content: { decision: "Use PostgreSQL", rationale: "ACID, row locks, and the team knows it", alternatives_considered: ["MongoDB", "MySQL"], impact: "high", approved_by: ["Ann"] } }],
  [5, 10, 5, { role: "user", content: "Which pool of connections do we take for it?" }],
  [5, 10, 7, { type: "decision", agent_id: "architect", tags: ["database", "performance"], references: ["demo-database"], content: { decision: "HikariCP with 20 connections", rationale: "Two per core are enough; more only wait for locks", impact: "medium" } }],
  [4, 15, 30, { type: "preference", agent_id: "architect", scope: "session", content: { key: "language", value: "British English", confidence: 0.9 } }],
  [3, 11, 20, { type: "note", agent_id: "architect", tags: ["people"], content: "Ann leads the payment system; Ben owns the ledger." }],
  [2, 8, 55, { type: "event", agent_id: "architect", tags: ["release"], content: "Version 0.4 went to the test cluster." }],
  [1, 16, 40, { role: "user", content: "Remind me: why not MongoDB?" }],
  [1, 16, 41, { role: "assistant", agent_id: "architect", references: ["demo-database"], content: "Because an order spans several documents, and we wanted one transaction for it." }],
];
const INCIDENT = [
  [2, 21, 3, { type: "event", agent_id: "analyst", tags: ["incident"], content: "Alert: payment latency above 2 s." }],
  [2, 21, 20, { type: "finding", id: "demo-slow", agent_id: "analyst", tags: ["performance", "database"], content: { severity: "high", description: "The orders table has no index on customer_id; each lookup reads all rows", evidence: "EXPLAIN ANALYZE: sequential scan, 1.9 s", recommendation: "Add an index concurrently", status: "open" } }],
  [2, 21, 44, { type: "decision", agent_id: "analyst", tags: ["database"], references: ["demo-slow"], content: { decision: "Add the index tonight, concurrently", rationale: "No lock on writes, back within minutes", impact: "high" } }],
  [1, 9, 10, { type: "finding", agent_id: "analyst", tags: ["operations"], content: { severity: "medium", description: "Nobody has ever restored the nightly backup", recommendation: "Restore it into a scratch database each week", status: "open" } }],
];

const dated = (week) => week.map(([days, hour, minute, entry]) => {
  const at = new Date(Date.now() - days * DAY);
  at.setHours(hour, minute, 0, 0);
  return { type: "conversation", ...entry, timestamp: at.toISOString() };
});

/** Write the week; two sessions. */
export async function fillDemo() {
  await post("/sessions", { session_id: DEMO[0], user_id: "demo", agent_ids: ["architect"], metadata: { project_name: "payments" } });
  await post(url`/sessions/${DEMO[0]}/batch`, { entries: dated(PAYMENTS) });
  await post("/sessions", { session_id: DEMO[1], user_id: "demo", agent_ids: ["analyst"], metadata: { project_name: "payments" } });
  await post(url`/sessions/${DEMO[1]}/batch`, { entries: dated(INCIDENT) });
}
