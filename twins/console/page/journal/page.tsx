import { Heading } from "../ui/layout.tsx";

export function Journal() {
  return <Heading title="Journal" />;
}
