// The official Node SDK of the Messages API as a client: prints what it got as JSON.
// node messages_client.mjs BASE_URL REQUEST_FILE
import { readFileSync } from "node:fs";
import Anthropic from "@anthropic-ai/sdk";

const [baseURL, file] = process.argv.slice(2);
const { names, asked, agent } = JSON.parse(readFileSync(file, "utf8"));
const client = new Anthropic({ baseURL, apiKey: "k", maxRetries: 0 });

const got = { whole: {}, streamed: {}, loop: [] };
for (const model of names) {
  got.whole[model] = await client.messages.create({ model, ...asked });
  got.streamed[model] = await client.messages.stream({ model, ...asked }).finalMessage();
}

if (!agent) {
  console.log(JSON.stringify(got));
  process.exit();
}

// An agent's loop: runs what it is told to, and asks again until there is nothing to run.
const messages = [...asked.messages];
for (const model of ["parallel", "text", "plain"]) {
  const tools = [...asked.tools, ...agent.tools];
  const request = { model, max_tokens: 9, messages, tools };
  const answer = await client.messages.stream(request).finalMessage();
  got.loop.push(answer.stop_reason);
  messages.push({ role: "assistant", content: answer.content });
  const calls = answer.content.filter((block) => block.type === "tool_use");
  const results = calls.map((c) => ({ type: "tool_result", tool_use_id: c.id, content: "3" }));
  messages.push({ role: "user", content: results });
}
const turn = { model: "plain", max_tokens: 9, ...agent };
got.agent = (await client.messages.create(turn)).stop_reason;

try {
  const dying = { model: "plain+die", ...asked, stream: true };
  for await (const _ of await client.messages.create(dying));
} catch (error) {
  got.death = error.message;
}
try {
  await client.messages.create({ model: "plain+status429", ...asked });
} catch (error) {
  got.status = [error.status, error.error.error.type];
}
console.log(JSON.stringify(got));
