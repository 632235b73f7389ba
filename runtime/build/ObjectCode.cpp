// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Object emission through LLVM's new pass manager; linking through lld in this process.

#include "runtime/build/ObjectCode.h"

#include "runtime/build/FirstError.h"

#include "runtime/build/InstructionOrder.h"
#include "runtime/deploy/Artifact.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"

LLD_HAS_DRIVER(elf)

namespace autotune {

namespace {

/// A 512-bit machine must not be talked into 256-bit vectors, and an AVX2 build must not use what AVX-512 adds.
std::string featuresFor(Isa isa) { return isa == Isa::Avx512 ? "-prefer-256-bit" : "-avx512f,+avx2,+fma"; }

bool hasVectors(const llvm::Module &module) {
  for (const llvm::Function &function : module)
    for (const llvm::BasicBlock &block : function)
      for (const llvm::Instruction &instruction : block)
        if (instruction.getType()->isVectorTy())
          return true;
  return false;
}

llvm::Error linkError(const llvm::Twine &what) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), what);
}

} // namespace

ObjectEmitter::ObjectEmitter(std::unique_ptr<llvm::TargetMachine> machine) : machine(std::move(machine)) {}
ObjectEmitter::ObjectEmitter(ObjectEmitter &&) noexcept = default;
ObjectEmitter::~ObjectEmitter() = default;

llvm::Expected<ObjectEmitter> ObjectEmitter::create(Isa isa) {
  [[maybe_unused]] static const bool initialized =
      (llvm::InitializeNativeTarget(), llvm::InitializeNativeTargetAsmPrinter(), keepInstructionOrder(), true);
  std::string triple = llvm::sys::getDefaultTargetTriple(), error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return linkError("LLVM target '" + triple + "': " + error);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, llvm::sys::getHostCPUName(), featuresFor(isa), options,
                                  llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
  if (!machine)
    return linkError("LLVM target '" + triple + "': found no code generator");
  return ObjectEmitter(std::move(machine));
}

llvm::Expected<ObjectCode> ObjectEmitter::emit(mlir::ModuleOp module, llvm::StringRef symbol, bool exported) {
  llvm::LLVMContext context;
  FirstError errors(*module.getContext());
  std::unique_ptr<llvm::Module> ir = mlir::translateModuleToLLVMIR(module, context);
  if (!ir)
    return errors.take(("translation of kernel '" + symbol + "' to LLVM IR").str());
  ir->setDataLayout(machine->createDataLayout());
  for (llvm::Function &function : *ir) {
    if (function.isDeclaration())
      continue;
    // Without it, spills of wide vectors cross cache lines at the mercy of address-space randomisation.
    function.addFnAttr("stackrealign");
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    if (function.getName() == "kernel") {
      function.setName(symbol);
      function.setVisibility(exported ? llvm::GlobalValue::DefaultVisibility : llvm::GlobalValue::HiddenVisibility);
    }
  }
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  // A kernel that MLIR has vectorised and unrolled wants cleaning up and no more: LLVM's unrolling and its hoisting of
  // loads at -O3 push accumulators out of the registers (41 instead of 93 GFLOP/s for a 3x3 convolution unrolled by 4).
  bool vectorised = hasVectors(*ir);
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = tuning.LoopVectorization = tuning.SLPVectorization = !vectorised;
  llvm::PassBuilder builder(machine.get(), tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder
      .buildPerModuleDefaultPipeline(vectorised ? llvm::OptimizationLevel::O1 : llvm::OptimizationLevel::O3)
      .run(*ir, modules);
  if (vectorised)
    for (llvm::Function &function : *ir)
      sinkLoads(function);
  return emit(*ir);
}

llvm::Expected<ObjectCode> ObjectEmitter::emit(llvm::Module &ir) {
  ir.setDataLayout(machine->createDataLayout());
  ir.setTargetTriple(machine->getTargetTriple().str());
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager codegen;
  if (machine->addPassesToEmitFile(codegen, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return linkError("LLVM cannot emit object code for this machine");
  codegen.run(ir);
  return ObjectCode{std::string(bytes.begin(), bytes.end())};
}

llvm::Expected<ObjectCode> emitArtifactTable(llvm::ArrayRef<std::string> kernelSymbols, llvm::StringRef manifest,
                                             Isa isa) {
  llvm::Expected<ObjectEmitter> emitter = ObjectEmitter::create(isa);
  if (!emitter)
    return emitter.takeError();
  llvm::LLVMContext context;
  llvm::Module module("artifact", context);
  auto *ptr = llvm::PointerType::getUnqual(context);
  auto *i32 = llvm::Type::getInt32Ty(context), *i64 = llvm::Type::getInt64Ty(context);
  auto *type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {ptr, i64, i64}, false);
  std::vector<llvm::Constant *> kernels;
  for (const std::string &symbol : kernelSymbols) {
    auto *kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, symbol, module);
    kernel->setVisibility(llvm::GlobalValue::HiddenVisibility);
    kernels.push_back(kernel);
  }
  auto addConstant = [&](llvm::Constant *value, const char *name, llvm::GlobalValue::LinkageTypes linkage) {
    return new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true, linkage, value, name);
  };
  auto *tableType = llvm::ArrayType::get(ptr, kernels.size());
  auto *table = addConstant(llvm::ConstantArray::get(tableType, kernels), "table", llvm::GlobalValue::PrivateLinkage);
  auto *text = addConstant(llvm::ConstantDataArray::getString(context, manifest), "manifest",
                           llvm::GlobalValue::PrivateLinkage);
  addConstant(llvm::ConstantStruct::getAnon({llvm::ConstantInt::get(i32, AUTOTUNE_ABI_VERSION),
                                             llvm::ConstantInt::get(i32, kernels.size()), table, text}),
              AUTOTUNE_ARTIFACT_SYMBOL, llvm::GlobalValue::ExternalLinkage);
  return emitter->emit(module);
}

llvm::Error linkSharedLibrary(llvm::ArrayRef<ObjectCode> objects, llvm::StringRef path) {
  llvm::SmallString<128> folder;
  if (std::error_code code = llvm::sys::fs::createUniqueDirectory("autotune-link", folder))
    return linkError("temporary folder for linking: " + code.message());
  auto cleanUp = llvm::make_scope_exit([&] { llvm::sys::fs::remove_directories(folder); });
  std::vector<std::string> files;
  for (const auto &[i, object] : llvm::enumerate(objects)) {
    files.push_back((folder + "/" + llvm::Twine(i) + ".o").str());
    std::error_code code;
    llvm::raw_fd_ostream out(files.back(), code);
    out << object.bytes;
    out.close();
    if (code || out.has_error()) {
      out.clear_error();
      return linkError("cannot write '" + files.back() + "': " + (code ? code : out.error()).message());
    }
  }
  std::string output = path.str();
  std::vector<const char *> args = {"ld.lld", "-shared", "--hash-style=gnu", "-z", "noexecstack", "-o", output.c_str()};
  for (const std::string &file : files)
    args.push_back(file.c_str());
  std::string words;
  llvm::raw_string_ostream errors(words);
  lld::Result result = lld::lldMain(args, llvm::nulls(), errors, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return linkError("linking '" + path + "': " + llvm::StringRef(words).rtrim());
  return llvm::Error::success();
}

} // namespace autotune
