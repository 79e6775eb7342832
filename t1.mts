import {createFliteSynthesis} from "./twins/voice-runtime/providers/flite-synthesis.ts";
import {levelDb} from "./twins/audio/pcm.ts";
const s=createFliteSynthesis(); const n=new AbortController().signal;
for (const v of ['slt','rms','awb','kal16','elliot','rohan']){ const t=performance.now(); const a=await s.speak('Hello, I need to open an incident for the checkout service.',{provider:'x',voiceId:v},n); 
 const nz=[...a].findIndex(x=>Math.abs(x)>100), lz=a.findLastIndex(x=>Math.abs(x)>100);
console.log(v,a.length/16000,levelDb(a).toFixed(1),Math.max(...a), nz/16,(a.length-lz)/16,a.subarray(0,8).join(),a.subarray(-8).join(),(performance.now()-t).toFixed(0));}
const t=performance.now(); const r=await Promise.all(Array.from({length:20},(_,i)=>s.speak(`This is call number ${i+1} and I am speaking to you now.`,{provider:'x',voiceId:'v'+i},n))); console.log('20:',performance.now()-t, r.reduce((a,b)=>a+b.length/16000,0),'s');
